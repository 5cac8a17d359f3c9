// The rules of the game API: turns a call into an answer, with the checks in the game API's order, and its rate limits. Knows
// no sockets.
import { parseSections, toSectionNames } from "../core/sections.ts";
import { buildLogElement, buildServerInfo } from "./build-server-info.ts";
import { COMMAND_LENGTH_MAX, runRemoteCommand } from "./commands.ts";
import { type Answer, answerError, answerJson, chooseErrorForm } from "./error-answers.ts";
import type { LogList } from "./log-lists.ts";
import type { Quirks } from "./quirks.ts";
import { hashOf } from "./random.ts";
import type { Town } from "./town.ts";
import type { TownRegistry } from "./town-registry.ts";

const READ_WINDOW_MS = 60_000;
/** The read limit of an application with a global key is this many times as large. */
const GLOBAL_KEY_FACTOR = 10;

export type GameCall = {
  kind: "read" | "command";
  query: string;
  serverKey: string;
  globalKey: string;
  source: string;
  body: string;
  /** Set by a fault: changes the town before it is answered. */
  changeTown?: (town: Town) => void;
  /** Set by a fault: used for this answer instead of the usual quirks. */
  quirks?: Quirks;
  /** Set by a fault: changes the body of a read before it is serialised. */
  distort?: (answer: Record<string, unknown>, town: Town) => unknown;
};

/** `truncated`: some of the requested entries are no longer kept. `next` is the `since` that continues here. */
export type EntryList = {
  entries: { list: LogList; element: Record<string, unknown> }[];
  next: number;
  truncated: boolean;
};

export type ProtocolRules = {
  seed: number;
  towns: TownRegistry;
  quirks: Quirks;
  readLimit: number;
  commandIntervalMs: number;
  clock: () => number;
};

export class Protocol {
  readonly #rules: ProtocolRules;
  readonly #readsBySource: WindowLimit;
  readonly #readsByApplication: WindowLimit;
  readonly #commands: WindowLimit;
  #commandCount = 0;

  constructor(rules: ProtocolRules) {
    this.#rules = rules;
    this.#readsBySource = new WindowLimit(rules.readLimit, READ_WINDOW_MS);
    this.#readsByApplication = new WindowLimit(rules.readLimit * GLOBAL_KEY_FACTOR, READ_WINDOW_MS);
    this.#commands = new WindowLimit(1, rules.commandIntervalMs);
  }

  answer(call: GameCall): Answer {
    const keyCode = judgeKeys(call.serverKey, call.globalKey);
    if (keyCode !== undefined) return this.#refuse(call, keyCode);
    const nowMs = this.#rules.clock();
    const { bucket, verdict } = this.#judgeLimit(call, nowMs);
    if (verdict?.isRefused) return answerRateLimited(bucket, verdict, nowMs);
    const town = this.#rules.towns.getCurrent(serverIdOf(call.serverKey), nowMs);
    call.changeTown?.(town);
    const answer = call.kind === "read" ? this.#answerRead(call, town) : this.#answerCommand(call, town);
    return verdict ? { ...answer, headers: { ...answer.headers, ...limitHeaders(bucket, verdict) } } : answer;
  }

  /** Every log entry of the server's town, oldest first; undefined when no call has created the town. */
  findEntries(serverId: string, since: number): EntryList | undefined {
    const recorded = this.#rules.towns.find(serverId)?.logs.listRecorded(since);
    if (!recorded) return undefined;
    const { quirks } = this.#rules;
    const entries = recorded.entries.map((logged) => ({ list: logged.list, element: buildLogElement(logged, quirks) }));
    return { entries, next: recorded.next, truncated: recorded.isTruncated };
  }

  #judgeLimit({ kind, serverKey, globalKey, source }: GameCall, nowMs: number) {
    if (kind === "command") {
      // As in the real game API, the bucket's name contains the whole server key. Clients must not log it.
      return { bucket: `command-${serverKey}`, verdict: this.#commands.take(serverKey, nowMs) };
    }
    if (globalKey !== "") return { bucket: "global", verdict: this.#readsByApplication.take(globalKey, nowMs) };
    return { bucket: "unauthenticated-global", verdict: this.#readsBySource.take(source, nowMs) };
  }

  #answerRead(call: GameCall, town: Town): Answer {
    const { quirks } = this.#rules;
    if (quirks.isOn("duplicateParametersRefused") && hasDuplicate(call.query)) {
      return answerError(0, { status: 400, message: "Duplicate query parameter." });
    }
    if (town.players.size === 0) return this.#refuse(call, 3002);
    const sections = toSectionNames(parseSections(call.query));
    const info = buildServerInfo(town, sections, call.quirks ?? quirks);
    return answerJson(200, call.distort ? call.distort(info, town) : info);
  }

  #answerCommand(call: GameCall, town: Town): Answer {
    const command = findCommand(call.body);
    if (command === undefined) return this.#refuse(call, 3001);
    const code = runRemoteCommand(town, command);
    if (code !== undefined) return this.#refuse(call, code);
    this.#commandCount++;
    const { quirks, seed } = this.#rules;
    const hasId = quirks.affects("commandIdInAnswer", 2, seed, this.#commandCount);
    return answerJson(200, hasId ? { message: "Success", commandId: this.#generateId() } : { message: "Success" });
  }

  #generateId(): string {
    const hex = (part: string) => hashOf(part, this.#rules.seed, this.#commandCount).toString(16).padStart(8, "0");
    return `${hex("a")}-${hex("b").slice(4)}-4${hex("c").slice(5)}-8${hex("d").slice(5)}-${hex("e")}${hex("f").slice(4)}`;
  }

  #refuse({ serverKey }: GameCall, code: number): Answer {
    const { quirks, seed } = this.#rules;
    return answerError(code, { form: chooseErrorForm(quirks, seed, serverIdOf(serverKey), code) });
  }
}

/** The command text of a request body. It may be no valid command. */
export function findCommand(body: string): string | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return undefined;
  }
  if (typeof parsed !== "object" || parsed === null || !("command" in parsed)) return undefined;
  const { command } = parsed;
  return typeof command === "string" && command.length <= COMMAND_LENGTH_MAX ? command : undefined;
}

function hasDuplicate(query: string): boolean {
  const names = [...new URLSearchParams(query).keys()];
  return new Set(names).size < names.length;
}

const SERVER_KEY = /^([A-Za-z0-9]+)-([A-Za-z0-9]+)$/;
const KEY_LENGTH_MAX = 256;

const CODE_OF_FIRST_PART: ReadonlyMap<string, number> = new Map([
  ["invalid", 2002],
  ["banned", 2004],
  ["offline", 3002],
]);

/** The server's id: the part of the key after the hyphen. Empty for a malformed key. */
export function serverIdOf(serverKey: string): string {
  return match(serverKey)?.[2] ?? "";
}

/** The error code for a call with these keys; undefined when both are valid. */
export function judgeKeys(serverKey: string, globalKey: string): number | undefined {
  if (serverKey === "") return 2000;
  const parts = match(serverKey);
  if (!parts) return 2001;
  if (globalKey === "invalid") return 2003;
  return CODE_OF_FIRST_PART.get(parts[1] ?? "");
}

function match(serverKey: string): RegExpExecArray | null {
  return serverKey.length <= KEY_LENGTH_MAX ? SERVER_KEY.exec(serverKey) : null;
}

const BUCKETS_MAX = 1000;

type LimitVerdict = { isRefused: boolean; limit: number; remaining: number; resetMs: number };

/** Limits the calls per window. A bucket's window begins with its first call. At most BUCKETS_MAX buckets are kept. */
class WindowLimit {
  readonly #buckets = new Map<string, { count: number; resetMs: number }>();

  constructor(
    private readonly limit: number,
    private readonly windowMs: number,
  ) {}

  /** Counts one call. Undefined when there is no limit. */
  take(bucket: string, nowMs: number): LimitVerdict | undefined {
    if (this.limit === 0 || this.windowMs === 0) return undefined;
    let window = this.#buckets.get(bucket);
    if (!window || nowMs >= window.resetMs) {
      window = { count: 0, resetMs: nowMs + this.windowMs };
      this.#buckets.delete(bucket);
      this.#buckets.set(bucket, window);
      this.#dropOldest();
    }
    const isRefused = window.count >= this.limit;
    if (!isRefused) window.count++;
    return { isRefused, limit: this.limit, remaining: this.limit - window.count, resetMs: window.resetMs };
  }

  #dropOldest(): void {
    const oldest = this.#buckets.keys().next();
    if (this.#buckets.size > BUCKETS_MAX && !oldest.done) this.#buckets.delete(oldest.value);
  }
}

function limitHeaders(bucket: string, verdict: LimitVerdict): Record<string, string> {
  return {
    "X-RateLimit-Bucket": bucket,
    "X-RateLimit-Limit": String(verdict.limit),
    "X-RateLimit-Remaining": String(verdict.remaining),
    "X-RateLimit-Reset": String(Math.ceil(verdict.resetMs / 1000)),
  };
}

function answerRateLimited(bucket: string, verdict: LimitVerdict, nowMs: number): Answer {
  const retryAfter = Math.max(1, Math.ceil((verdict.resetMs - nowMs) / 1000));
  const body = { message: "You are being rate limited!", retry_after: retryAfter, bucket, code: 4001 };
  const headers = { ...limitHeaders(bucket, verdict), "Retry-After": String(retryAfter) };
  return { ...answerJson(429, body, headers), code: 4001 };
}
