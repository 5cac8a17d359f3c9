// Stands between Gatehouse and the simulator and notes what every reading showed, so that a ledger can be compared with what
// was shown and with what happened.
import { expect } from "bun:test";
import { LOG_LISTS, type LogList } from "../../src/core/events/memory.ts";
import type { Gap } from "../../src/core/wire/event-data.ts";
import type { Simulator } from "../../src/simulator/simulator.ts";
import { undoLater } from "../process/run-gatehouse.ts";

type Fields = Record<string, unknown>;

/** An event as the events endpoint gives it. */
export type ToldEvent = {
  readonly id: string;
  readonly type: string;
  readonly at: number;
  readonly seen_at: number;
  readonly backfill: boolean;
  readonly data: Fields;
};

const LIST_OF: Readonly<Record<string, LogList>> = {
  "player.joined": "JoinLogs",
  "player.left": "JoinLogs",
  "player.killed": "KillLogs",
  "command.used": "CommandLogs",
  "modcall.opened": "ModCalls",
};

/** Calls for a moderator are compared without the answer, which comes later. */
function keyOf(list: string, { Moderator: _, ...element }: Fields): string {
  return `${list} ${JSON.stringify(Object.entries(element).sort(([a], [b]) => (a < b ? -1 : 1)))}`;
}

function count(keys: Iterable<string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

/**
 * Finds the entries between two equal ones of their list. When a reading shows only the second, it looks as if it overlapped
 * with an earlier reading that showed the first: entries of one second that no reading showed together cannot be told apart.
 */
export function findHidden(keys: readonly string[]): Set<string> {
  const hidden = new Set<string>();
  const lastPlaces = new Map(keys.map((key, place) => [key, place]));
  for (const [place, key] of keys.entries()) {
    for (const between of keys.slice(place + 1, lastPlaces.get(key))) hidden.add(between);
  }
  return hidden;
}

export class LedgerWitness {
  readonly #simulator: Simulator;
  readonly #town: string;
  /** How often one reading showed equal entries, at most. */
  readonly #shown = new Map<string, number>();
  #last: readonly string[] = [];
  #readings = 0;
  #firstReadingAt: number | undefined;
  #onReading: (() => void)[] = [];

  constructor(simulator: Simulator, town: string) {
    this.#simulator = simulator;
    this.#town = town;
  }

  get readings(): number {
    return this.#readings;
  }

  /** The address to use instead of the simulator's. */
  open(): string {
    const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: (request) => this.#forward(request) });
    undoLater(() => server.stop(true));
    return `http://127.0.0.1:${server.port}`;
  }

  /** Resolves when so many more readings were answered. */
  async pass(readings: number): Promise<void> {
    const goal = this.#readings + readings;
    while (this.#readings < goal) await new Promise<void>((resolve) => this.#onReading.push(resolve));
  }

  /** Whether every entry of the newest reading is among these events. */
  hasNewest(events: readonly ToldEvent[]): boolean {
    const told = countTold(events);
    return [...count(this.#last)].every(([key, times]) => (told.get(key) ?? 0) >= times);
  }

  /**
   * Each entry that a reading showed is told as often as one reading showed it; every other one lies in a gap. So does an entry
   * whose only readings were lost with a killed process, unless it equals one that is told or lies between two equal ones
   * (`areEqualsTold`): equal entries that no recorded reading showed together cannot be told apart.
   */
  judge(
    events: readonly ToldEvent[],
    { areEqualsTold = false } = {},
  ): { gaps: readonly Gap[]; told: number; happened: number } {
    const told = countTold(events);
    const gaps = events.filter(({ type }) => type === "gap").map(({ data }) => data as unknown as Gap);
    const tooOften = [...told].filter(([key, times]) => times > (this.#shown.get(key) ?? 0));
    expect(tooOften).toEqual([]);
    const { entries = [], truncated } = this.#simulator.findEntries(this.#town) ?? {};
    expect(truncated).toBe(false);
    const left = new Map(told);
    const hidden = areEqualsTold ? findHiddenOfLists(entries) : new Set<string>();
    const lost: string[] = [];
    for (const { list, element } of entries.toReversed()) {
      const key = keyOf(list, element);
      const times = left.get(key) ?? 0;
      left.set(key, times - 1);
      const at = Number(element.Timestamp) * 1000;
      if (times > 0 || (!this.#shown.has(key) && at < (this.#firstReadingAt ?? 0))) continue;
      if (hidden.has(key)) continue;
      if (told.has(key) && (areEqualsTold || told.get(key) === this.#shown.get(key))) continue;
      const isCovered = gaps.some(({ section, from, to }) => {
        return section === list && (from === null || from <= at) && (to === null || at <= to);
      });
      if (!isCovered) lost.push(`${key} at ${at}, shown ${this.#shown.get(key) ?? 0}`);
    }
    expect(lost).toEqual([]);
    return { gaps, told: told.size, happened: entries.length };
  }

  async #forward(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    const answer = await fetch(this.#simulator.url + pathname + search, {
      method: request.method,
      headers: request.headers,
      ...(request.method === "POST" && { body: await request.bytes() }),
    });
    const text = await answer.text();
    if (request.method === "GET" && answer.status === 200) this.#note(text);
    const headers = new Headers(answer.headers);
    for (const name of ["content-encoding", "content-length", "connection"]) headers.delete(name);
    return new Response(text, { status: answer.status, headers });
  }

  #note(text: string): void {
    const answer = JSON.parse(text) as Fields;
    this.#firstReadingAt ??= Date.now();
    this.#last = LOG_LISTS.flatMap((list) => {
      return ((answer[list] ?? []) as Fields[]).map((element) => keyOf(list, element));
    });
    for (const [key, times] of count(this.#last)) {
      this.#shown.set(key, Math.max(this.#shown.get(key) ?? 0, times));
    }
    this.#readings++;
    for (const resolve of this.#onReading.splice(0)) resolve();
  }
}

/** Whether these events tell of every list. */
export function hasEveryList(events: readonly ToldEvent[]): boolean {
  const told = new Set(events.map(({ type }) => LIST_OF[type]));
  return LOG_LISTS.every((list) => told.has(list));
}

type Entries = readonly { readonly list: LogList; readonly element: Fields }[];

function findHiddenOfLists(entries: Entries): Set<string> {
  const ofList = (list: LogList) => entries.filter((entry) => entry.list === list);
  const hidden = LOG_LISTS.map((list) => findHidden(ofList(list).map(({ element }) => keyOf(list, element))));
  return hidden.reduce((all, some) => all.union(some));
}

function countTold(events: readonly ToldEvent[]): Map<string, number> {
  return count(
    events.flatMap(({ type, data }) => {
      const list = LIST_OF[type];
      return list ? [keyOf(list, data)] : [];
    }),
  );
}
