// What is not well, as this instance knows it: for /readyz, and with a line in the log when it begins and when it is over.
import type { MaybePromise } from "../../core/maybe-promise.ts";
import { NOTICE_CODES, type NoticeCode, OWN_NOTICES } from "../../core/notice-codes.ts";
import { type NoticeFacts, sayNotice } from "../../core/notices.ts";
import type { Log } from "../../core/ports/log.ts";

export const LOOK_FOR_NOTICES_MS = 5_000;
/** One that comes and goes is logged at most this often. */
const LOG_EVERY_MS = 60_000;

const ORDER = Object.keys(NOTICE_CODES) as readonly NoticeCode[];

type Begun = { readonly at: number; readonly isLogged: boolean };

export class NoticeBoard {
  readonly #begun = new Map<NoticeCode, Begun>();
  readonly #loggedAt = new Map<NoticeCode, number>();

  constructor(
    private readonly list: (now: number) => MaybePromise<readonly NoticeFacts[]>,
    private readonly log: Pick<Log, "info" | "warn">,
  ) {}

  /** Lists what is not well, in the order of NOTICE_CODES. */
  async look(now: number): Promise<readonly NoticeFacts[]> {
    const listed = (await this.list(now)).toSorted((a, b) => ORDER.indexOf(a.code) - ORDER.indexOf(b.code));
    for (const facts of listed) if (!this.#begun.has(facts.code)) this.#begin(facts, now);
    for (const code of this.#begun.keys()) if (!listed.some((facts) => facts.code === code)) this.#end(code);
    return listed.map((facts) => {
      const at = OWN_NOTICES.has(facts.code) ? this.#begun.get(facts.code)?.at : undefined;
      return at === undefined ? facts : { since: at, ...facts };
    });
  }

  #begin(facts: NoticeFacts, now: number): void {
    const { code, ...values } = facts;
    const loggedAt = this.#loggedAt.get(code);
    const isLogged = loggedAt === undefined || Math.abs(now - loggedAt) >= LOG_EVERY_MS;
    this.#begun.set(code, { at: now, isLogged });
    if (!isLogged) return;
    this.#loggedAt.set(code, now);
    const { message, remedy } = sayNotice(facts);
    this.log.warn({ notice: code, ...values }, `${message} ${remedy}`);
  }

  #end(code: NoticeCode): void {
    const begun = this.#begun.get(code);
    this.#begun.delete(code);
    if (begun?.isLogged) this.log.info({ notice: code, since: begun.at }, `it is over: ${NOTICE_CODES[code]}`);
  }
}
