// What is not well, as this instance knows it: for /readyz, and with a line in the log when it begins and when it is over.
// Whether the store can be used is found here, because the store says so only when it is asked.
import type { MaybePromise } from "../../core/maybe-promise.ts";
import { NOTICE_CODES, type NoticeCode, OWN_NOTICES } from "../../core/notice-codes.ts";
import { type NoticeFacts, sayNotice } from "../../core/notices.ts";
import type { Log } from "../../core/ports/log.ts";
import type { Store } from "../../core/ports/store.ts";

export const LOOK_FOR_NOTICES_MS = 5_000;
/** At most one check of the store in this time, because a check writes to the disk and /readyz needs no key. */
const CHECK_EVERY_MS = 1_000;
/** One that comes and goes is logged at most this often. */
const LOG_EVERY_MS = 60_000;

const ORDER = Object.keys(NOTICE_CODES) as readonly NoticeCode[];

type Begun = { readonly at: number; readonly isLogged: boolean };

export type NoticeBoardDeps = {
  readonly store: Pick<Store, "checkHealth">;
  /** The disk may be the reason why the store cannot be used, or may have been it. */
  readonly lookAtMachine: () => Promise<void>;
  /** What else is not well. */
  readonly list: (now: number) => MaybePromise<readonly NoticeFacts[]>;
  readonly log: Pick<Log, "info" | "warn" | "error">;
};

export class NoticeBoard {
  readonly #begun = new Map<NoticeCode, Begun>();
  readonly #loggedAt = new Map<NoticeCode, number>();
  #looking: Promise<readonly NoticeFacts[]> | undefined;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #isStoreUsable = true;

  constructor(private readonly deps: NoticeBoardDeps) {}

  /** Lists what is not well, in the order of NOTICE_CODES. One look at a time for all who ask. */
  look(now: number): Promise<readonly NoticeFacts[]> {
    this.#looking ??= this.#look(now).finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #look(now: number): Promise<readonly NoticeFacts[]> {
    if (Math.abs(now - this.#checkedAt) >= CHECK_EVERY_MS) {
      this.#checkedAt = now;
      await this.#checkStore();
    }
    const found = await this.deps.list(now);
    const all: readonly NoticeFacts[] = this.#isStoreUsable ? found : [{ code: "store_unusable" }, ...found];
    const listed = all.toSorted((a, b) => ORDER.indexOf(a.code) - ORDER.indexOf(b.code));
    for (const facts of listed) if (!this.#begun.has(facts.code)) this.#begin(facts, now);
    for (const code of this.#begun.keys()) if (!listed.some((facts) => facts.code === code)) this.#end(code);
    return listed.map((facts) => {
      const at = OWN_NOTICES.has(facts.code) ? this.#begun.get(facts.code)?.at : undefined;
      return at === undefined ? facts : { since: at, ...facts };
    });
  }

  async #checkStore(): Promise<void> {
    const { store, lookAtMachine, log } = this.deps;
    const wasUsable = this.#isStoreUsable;
    try {
      await store.checkHealth();
      this.#isStoreUsable = true;
    } catch (error) {
      this.#isStoreUsable = false;
      if (wasUsable) log.error({ err: error }, "the store is not usable");
    }
    if (!this.#isStoreUsable || !wasUsable) await lookAtMachine();
  }

  #begin(facts: NoticeFacts, now: number): void {
    const { code, ...values } = facts;
    const loggedAt = this.#loggedAt.get(code);
    const isLogged = loggedAt === undefined || Math.abs(now - loggedAt) >= LOG_EVERY_MS;
    this.#begun.set(code, { at: now, isLogged });
    if (!isLogged) return;
    this.#loggedAt.set(code, now);
    const { message, remedy } = sayNotice(facts);
    this.deps.log.warn({ notice: code, ...values }, `${message} ${remedy}`);
  }

  #end(code: NoticeCode): void {
    const begun = this.#begun.get(code);
    this.#begun.delete(code);
    if (begun?.isLogged) this.deps.log.info({ notice: code, since: begun.at }, `it is over: ${NOTICE_CODES[code]}`);
  }
}
