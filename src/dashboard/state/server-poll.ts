// The one poll of the page: asks for the sections that somebody on the page wants and the key may read, remembers the
// last good answer and what came instead of the next. Knows nothing of React.
import { ERRORS } from "../../core/errors.ts";
import { SECTIONS, type Section } from "../../core/sections.ts";
import { OFFLINE } from "../../core/upstream-codes.ts";
import type { CallerApi, ServerState } from "../api/caller.ts";
import type { Pace } from "../api/pace.ts";
import { type Answer, type ApiError, type LimitLeft, type Outcome, UNREACHABLE } from "../api/request.ts";
import { ServerHistory } from "./server-history.ts";

export type Condition =
  | "loading"
  | "ok"
  | "stale"
  | "offline"
  | "game-error"
  | "limited"
  | "blocked"
  | "refused"
  | "unreachable";

/** What is known of the server after a poll. */
export type Reading = {
  /** `stale` is not among them: it comes with time, see `judgeAge`. */
  readonly condition: Exclude<Condition, "stale">;
  /** The last good answer, kept through failures. */
  readonly state: ServerState | undefined;
  /** When that was true, by this machine's clock. */
  readonly dataAt: number | undefined;
  /** Why there is no newer one. */
  readonly error: ApiError | undefined;
  /** When the page asks again: when Gatehouse has told us to, or the next try to reach it. */
  readonly retryAt: number | undefined;
  readonly limit: LimitLeft | undefined;
  readonly isSlowed: boolean;
  /** How long to wait before the next poll. */
  readonly delayMs: number;
  /** The sections that this key may not read. */
  readonly forbidden: readonly Section[];
};

export const POLL_INTERVAL_MS = 5_000;
export const STALE_AFTER_MS = 3 * POLL_INTERVAL_MS;
/** Asked for with every poll, so that the plots have no holes. */
const HISTORY_SECTIONS: readonly Section[] = ["Queue", "JoinLogs"];
/** One for each view that somebody is likely to go back to. */
const ANSWERS_KEPT_MAX = 8;

export class ServerPoll {
  readonly history = new ServerHistory();
  readonly #api: CallerApi;
  readonly #pace: Pace;
  readonly #wishes = new Map<symbol, readonly Section[]>();
  readonly #answers = new Map<string, Answer<ServerState>>();
  #allowed: readonly Section[];
  #asked: readonly Section[] = [];
  #good: { readonly state: ServerState; readonly dataAt: number } | undefined;

  /** `allowed` is what the key may read; it is asked about again when Gatehouse refuses one of them. */
  constructor(api: CallerApi, pace: Pace, allowed: readonly Section[]) {
    this.#api = api;
    this.#pace = pace;
    this.#allowed = allowed;
  }

  /** Returns whether the sections were not in the last answer, so that it is worth asking at once. */
  want(wish: symbol, sections: readonly Section[]): boolean {
    this.#wishes.set(wish, sections);
    return sections.some((name) => !this.#asked.includes(name) && this.#allowed.includes(name));
  }

  wantNoMore(wish: symbol): void {
    this.#wishes.delete(wish);
  }

  mayAsk(now: number): boolean {
    return this.#pace.mayAsk(now);
  }

  mayInsist(now: number): boolean {
    return this.#pace.mayInsist(now);
  }

  /** Throws only when the signal says so; what went wrong is in the reading. */
  async read(signal?: AbortSignal): Promise<Reading> {
    let outcome = await this.#ask(this.#listWanted(), signal);
    const isForbidden = !outcome.ok && outcome.error.code === ERRORS.sectionForbidden.code;
    if (isForbidden && (await this.#learnRights(signal))) {
      outcome = await this.#ask(this.#listWanted(), signal);
    }
    // A view that has come meanwhile would wait for the next poll.
    const isMoreWanted = this.#listWanted().some((name) => !this.#asked.includes(name));
    if (outcome.ok && isMoreWanted && this.#pace.mayAsk(outcome.receivedAt)) {
      outcome = await this.#ask(this.#listWanted(), signal);
    }
    if (outcome.ok) {
      const dataAt = outcome.receivedAt - outcome.ageMs;
      this.#good = { state: outcome.value, dataAt };
      this.history.note(outcome.value, dataAt);
    }
    return this.#describe(outcome);
  }

  #listWanted(): readonly Section[] {
    const wanted = new Set([...HISTORY_SECTIONS, ...Array.from(this.#wishes.values()).flat()]);
    return SECTIONS.filter((name) => wanted.has(name) && this.#allowed.includes(name));
  }

  async #ask(sections: readonly Section[], signal?: AbortSignal): Promise<Outcome<ServerState>> {
    this.#asked = sections;
    const name = sections.join();
    const kept = this.#answers.get(name);
    const outcome = await this.#api.readServer(sections, kept?.etag ?? undefined, signal);
    if (!outcome.ok) return outcome;
    const answer = outcome.status === 304 && kept ? { ...outcome, value: kept.value } : outcome;
    this.#answers.delete(name);
    this.#answers.set(name, answer);
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > ANSWERS_KEPT_MAX && oldest !== undefined) this.#answers.delete(oldest);
    return answer;
  }

  /** The operator has taken a section from the key while the page was open. Returns whether the rights are known again. */
  async #learnRights(signal?: AbortSignal): Promise<boolean> {
    const outcome = await this.#api.readKey(signal);
    if (outcome.ok) this.#allowed = outcome.value.sections;
    return outcome.ok;
  }

  #describe(outcome: Outcome<ServerState>): Reading {
    const { receivedAt } = outcome;
    const { waitUntil } = this.#pace;
    const condition = outcome.ok ? "ok" : judgeError(outcome.error);
    const delayMs = this.#pace.delayMs(POLL_INTERVAL_MS, receivedAt);
    const nextTryAt = condition === "unreachable" ? receivedAt + delayMs : undefined;
    return {
      condition,
      state: this.#good?.state,
      dataAt: this.#good?.dataAt,
      error: outcome.ok ? undefined : outcome.error,
      retryAt: waitUntil > receivedAt ? waitUntil : nextTryAt,
      limit: this.#pace.limit,
      isSlowed: this.#pace.isSlowed(receivedAt),
      delayMs,
      forbidden: SECTIONS.filter((name) => !this.#allowed.includes(name)),
    };
  }
}

export const FIRST_READING: Reading = {
  condition: "loading",
  state: undefined,
  dataAt: undefined,
  error: undefined,
  retryAt: undefined,
  limit: undefined,
  isSlowed: false,
  delayMs: POLL_INTERVAL_MS,
  forbidden: [],
};

export function judgeError({ code, upstreamCode }: ApiError): Exclude<Condition, "stale"> {
  if (code === ERRORS.gameApi.code) return upstreamCode === OFFLINE ? "offline" : "game-error";
  if (code === ERRORS.rateLimited.code) return "limited";
  if (code === ERRORS.spamBlocked.code) return "blocked";
  if (code === UNREACHABLE || code === ERRORS.unavailable.code || code === ERRORS.internal.code) {
    return "unreachable";
  }
  return "refused";
}

/** A good reading grows old. */
export function judgeAge({ condition, dataAt }: Reading, now: number): Condition {
  return condition === "ok" && dataAt !== undefined && now - dataAt > STALE_AFTER_MS ? "stale" : condition;
}
