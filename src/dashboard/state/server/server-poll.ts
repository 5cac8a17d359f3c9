// The one poll of the page: reads the sections that open components have subscribed to and the key may read, and keeps the
// last good answer through failures. Knows nothing of React.
import { ERRORS } from "../../../core/errors.ts";
import { isEventType, sectionOfType } from "../../../core/events/event-types.ts";
import { OFFLINE } from "../../../core/readings/upstream-codes.ts";
import { SECTIONS, type Section } from "../../../core/sections.ts";
import type { EventResource } from "../../../core/wire/event.ts";
import type { ServerReader, ServerState } from "../../api/caller.ts";
import type { Pace } from "../../api/pace.ts";
import { type Answer, type ApiError, type LimitLeft, type Outcome, UNREACHABLE } from "../../api/request.ts";
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

/** What the page knows about the server after a poll. */
export type Reading = {
  /** Never `stale`: a reading becomes stale with time, see `judgeAge`. */
  readonly condition: Exclude<Condition, "stale">;
  /** The last good answer, kept through failures. */
  readonly state: ServerState | undefined;
  /** The time of `state`, by this machine's clock. */
  readonly dataAt: number | undefined;
  /** Why the last poll failed. */
  readonly error: ApiError | undefined;
  /** When the page polls again, if Gatehouse has sent Retry-After or cannot be reached. */
  readonly retryAt: number | undefined;
  readonly limit: LimitLeft | undefined;
  readonly isSlowed: boolean;
  /** How long to wait before the next poll. */
  readonly delayMs: number;
  /** How old `state` may become before it is stale. */
  readonly staleAfterMs: number;
  /** The sections that this key may not read. */
  readonly forbidden: readonly Section[];
};

export const POLL_INTERVAL_MS = 5_000;
/** The interval while a stream tells of changes: for what no event tells of, and for servers that are not watched. */
export const LIVE_POLL_INTERVAL_MS = 10_000;
/** In intervals. */
const STALE_AFTER = 3;
export const STALE_AFTER_MS = STALE_AFTER * POLL_INTERVAL_MS;
/** What the plots show. */
const PLOT_SECTIONS: readonly Section[] = ["Queue", "JoinLogs"];
/** One for each view that the user is likely to come back to. */
const ANSWERS_KEPT_MAX = 8;

export class ServerPoll {
  readonly history = new ServerHistory();
  readonly #api: ServerReader;
  readonly #pace: Pace;
  readonly #subscriptions = new Map<symbol, readonly Section[]>();
  readonly #needingPositions = new Set<symbol>();
  readonly #answers = new Map<string, Answer<ServerState>>();
  readonly #plotted: readonly Section[];
  #allowed: readonly Section[];
  #requested: readonly Section[] = [];
  #isLive = false;
  #lastGood: { readonly state: ServerState; readonly dataAt: number } | undefined;

  /**
   * `allowed` has the sections that the key may read; it is read again when Gatehouse refuses a section. `plotted` is part of
   * every poll, so that the plots have no gaps.
   */
  constructor(api: ServerReader, pace: Pace, allowed: readonly Section[], plotted: readonly Section[] = PLOT_SECTIONS) {
    this.#api = api;
    this.#pace = pace;
    this.#allowed = allowed;
    this.#plotted = plotted;
  }

  /**
   * Adds sections to every poll. Returns whether one of them was not in the last poll and should be read at once.
   * `needsPositions`: players move all the time, and no event tells of it, so a stream does not slow the poll down.
   */
  subscribe(subscriber: symbol, sections: readonly Section[], needsPositions = false): boolean {
    this.#subscriptions.set(subscriber, sections);
    if (needsPositions) this.#needingPositions.add(subscriber);
    return sections.some((name) => !this.#requested.includes(name) && this.#allowed.includes(name));
  }

  unsubscribe(subscriber: symbol): void {
    this.#subscriptions.delete(subscriber);
    this.#needingPositions.delete(subscriber);
  }

  /** Says whether a stream tells of changes, so that fewer polls will do. */
  setLive(isLive: boolean): void {
    this.#isLive = isLive;
  }

  /** Whether the event tells of something that the poll reads. */
  isConcernedBy(event: Pick<EventResource, "type">): boolean {
    const stale = listStaleSections(event);
    // An event that concerns everything concerns the fields that every answer has, too.
    return stale === SECTIONS || stale.some((name) => this.#requested.includes(name));
  }

  mayPoll(now: number): boolean {
    return this.#pace.mayPoll(now);
  }

  mayRefresh(now: number): boolean {
    return this.#pace.mayRefresh(now);
  }

  /** Polls once. Throws only when the signal aborts; other failures are in the reading. */
  async read(signal?: AbortSignal): Promise<Reading> {
    let outcome = await this.#request(this.#listSections(), signal);
    const isForbidden = !outcome.ok && outcome.error.code === ERRORS.sectionForbidden.code;
    if (isForbidden && (await this.#refreshRights(signal))) {
      outcome = await this.#request(this.#listSections(), signal);
    }
    // A view that was opened during the request does not have to wait for the next poll.
    const isIncomplete = this.#listSections().some((name) => !this.#requested.includes(name));
    if (outcome.ok && isIncomplete && this.#pace.mayPoll(outcome.receivedAt)) {
      outcome = await this.#request(this.#listSections(), signal);
    }
    if (outcome.ok) {
      const dataAt = outcome.receivedAt - outcome.ageMs;
      this.#lastGood = { state: outcome.value, dataAt };
      this.history.record(outcome.value, dataAt);
    }
    return this.#describe(outcome);
  }

  #listSections(): readonly Section[] {
    const wanted = new Set([...this.#plotted, ...Array.from(this.#subscriptions.values()).flat()]);
    return SECTIONS.filter((name) => wanted.has(name) && this.#allowed.includes(name));
  }

  async #request(sections: readonly Section[], signal?: AbortSignal): Promise<Outcome<ServerState>> {
    this.#requested = sections;
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

  /** Reads the rights again after the operator has removed a section from the key. Returns whether that succeeded. */
  async #refreshRights(signal?: AbortSignal): Promise<boolean> {
    const outcome = await this.#api.readKey?.(signal);
    if (outcome?.ok) this.#allowed = outcome.value.sections;
    return outcome?.ok ?? false;
  }

  #describe(outcome: Outcome<ServerState>): Reading {
    const { receivedAt } = outcome;
    const { waitUntil } = this.#pace;
    const condition = outcome.ok ? "ok" : judgeError(outcome.error);
    const intervalMs = this.#findIntervalMs(condition);
    const delayMs = this.#pace.delayMs(intervalMs, receivedAt);
    const nextTryAt = condition === "unreachable" ? receivedAt + delayMs : undefined;
    return {
      condition,
      state: this.#lastGood?.state,
      dataAt: this.#lastGood?.dataAt,
      error: outcome.ok ? undefined : outcome.error,
      retryAt: waitUntil > receivedAt ? waitUntil : nextTryAt,
      limit: this.#pace.limit,
      isSlowed: this.#pace.isSlowed(receivedAt),
      delayMs,
      staleAfterMs: STALE_AFTER * intervalMs,
      forbidden: SECTIONS.filter((name) => !this.#allowed.includes(name)),
    };
  }

  #findIntervalMs(condition: Condition): number {
    const mayWait = this.#isLive && condition === "ok" && this.#needingPositions.size === 0;
    return mayWait ? LIVE_POLL_INTERVAL_MS : POLL_INTERVAL_MS;
  }
}

export const INITIAL_READING: Reading = {
  condition: "loading",
  state: undefined,
  dataAt: undefined,
  error: undefined,
  retryAt: undefined,
  limit: undefined,
  isSlowed: false,
  delayMs: POLL_INTERVAL_MS,
  staleAfterMs: STALE_AFTER_MS,
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

/** A good reading becomes stale with time. */
export function judgeAge({ condition, dataAt, staleAfterMs }: Reading, now: number): Condition {
  return condition === "ok" && dataAt !== undefined && now - dataAt > staleAfterMs ? "stale" : condition;
}

/** All sections for a gap, for a change of the server itself and for a type that this page does not know. */
export function listStaleSections({ type }: Pick<EventResource, "type">): readonly Section[] {
  if (!isEventType(type) || type === "gap" || type.startsWith("server.")) return SECTIONS;
  // What these tell of is in no section.
  if (/^(?:custom|alert)\.|^modcall\.(?:claimed|released)$/.test(type)) return [];
  const section = sectionOfType(type);
  const named = section === null ? [] : [section];
  return section === "JoinLogs" ? [...named, "Players"] : named;
}
