// Reads the events of a server from instances that may be killed or without their archive: a follower, and all pages at once.
import { expectStatus, type Instance } from "../instances/fleet.ts";
import type { ToldEvent } from "./ledger-judge.ts";

const PAUSE_MS = 20;
/** How long it tries to read the rest after it was stopped. */
const REST_MS = 60_000;

/** Asks an instance that may be killed at any moment. */
export async function tryAsking(instance: Instance, path: string) {
  return instance.admin("GET", path).catch(() => undefined);
}

export type EventPage = {
  readonly items: readonly ToldEvent[];
  readonly next: string;
  readonly has_more: boolean;
};

export async function readPages(instance: Instance, serverId: string, query: string): Promise<EventPage[]> {
  const pages: EventPage[] = [];
  let after = "earliest";
  for (;;) {
    const answer = await instance.admin("GET", `/servers/${serverId}/events?after=${after}&${query}`);
    const page: EventPage = expectStatus(answer, 200);
    pages.push(page);
    if (!page.has_more) return pages;
    after = page.next;
  }
}

/** Reads on from its cursor, now on one instance and now on the other. */
export class EventFollower {
  readonly events: ToldEvent[] = [];
  readonly #serverId: string;
  readonly #choose: () => Instance;
  readonly #pick: (below: number) => number;
  #stoppedAt: number | undefined;

  constructor(serverId: string, choose: () => Instance, pick: (below: number) => number) {
    this.#serverId = serverId;
    this.#choose = choose;
    this.#pick = pick;
  }

  /** Ends when it was stopped and has read everything. */
  async run(): Promise<void> {
    let after = "earliest";
    for (;;) {
      const stoppedAt = this.#stoppedAt;
      const path = `/servers/${this.#serverId}/events?after=${after}&limit=${1 + this.#pick(100)}`;
      const answer = await tryAsking(this.#choose(), path);
      if (answer?.status !== 200) {
        if (stoppedAt !== undefined && performance.now() - stoppedAt > REST_MS)
          throw new Error(`the rest of the events cannot be read: ${answer?.status}`);
        await Bun.sleep(PAUSE_MS);
        continue;
      }
      const page: EventPage = answer.body;
      this.events.push(...page.items);
      after = page.next;
      if (stoppedAt !== undefined && !page.has_more) return;
      if (!page.has_more) await Bun.sleep(PAUSE_MS);
    }
  }

  stop(): void {
    this.#stoppedAt ??= performance.now();
  }
}
