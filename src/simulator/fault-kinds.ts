// The kinds of faults with their parameters, the parser of `POST /_faults`, the armed faults, and which of them applies to a call.
import { DAY_MS } from "../core/durations.ts";
import { LOG_LISTS, LOG_WINDOW_MAX } from "./log-lists.ts";

export type ParameterValue = number | string | boolean;
type ParameterRule = {
  type: "integer" | "number" | "text" | "boolean";
  about: string;
  required?: true;
  default?: ParameterValue;
  least?: number;
  most?: number;
  choices?: readonly string[];
};
type FaultRule = { about: string; parameters: Readonly<Record<string, ParameterRule>> };

type Range = Pick<ParameterRule, "least" | "most" | "required"> & { default?: number };

function integer(about: string, range: Range): ParameterRule {
  return { type: "integer", about, ...range };
}

function flag(about: string, isOn = false): ParameterRule {
  return { type: "boolean", about, default: isOn };
}

const BURST_MAX = 100_000;
const ACTS = flag("whether the call is carried out although its answer is lost");
const LIST: ParameterRule = { type: "text", about: "the log list", default: "KillLogs", choices: LOG_LISTS };

export const FAULT_RULES = {
  code: {
    about: "answers with an error code of the game API",
    parameters: {
      code: integer("the error code", { required: true, least: 0, most: 99_999 }),
      status: integer("HTTP status, the usual one of the code if left out", { least: 200, most: 599 }),
      message: { type: "text", about: "the message, the usual one of the code if left out" },
      form: {
        type: "text",
        about: "body form: {code, message}, {error, code} or {message, commandId}",
        default: "message",
        choices: ["message", "error", "command-id"],
      },
    },
  },
  refused: { about: "takes no new connections for `seconds`, then listens again on the same port", parameters: {} },
  slow: {
    about: "answers rightly, but late",
    parameters: { ms: integer("delay", { default: 3000, least: 0, most: DAY_MS }) },
  },
  hang: { about: "takes the call and never answers", parameters: { acts: ACTS } },
  reset: { about: "resets the connection instead of answering", parameters: { acts: ACTS } },
  truncated: { about: "promises the whole answer, sends half of it and hangs up", parameters: {} },
  drip: {
    about: "sends the right answer one byte at a time",
    parameters: { ms: integer("pause before each byte", { default: 100, least: 1, most: DAY_MS }) },
  },
  "not-json": { about: "answers 200 with a body that is not JSON", parameters: {} },
  "html-502": { about: "answers 502 with the HTML page of a proxy", parameters: {} },
  huge: {
    about: "answers 200 with an enormous JSON body",
    parameters: {
      bytes: integer("size of the body", { default: 50_000_000, least: 1, most: 10_000_000_000 }),
      gzip: flag("sends it gzip-compressed: small on the wire, enormous unpacked"),
    },
  },
  redirect: {
    about: "redirects the caller to another address",
    parameters: {
      to: { type: "text", about: "the address", default: "http://elsewhere.invalid/v2/server" },
      status: integer("HTTP status", { default: 302, least: 300, most: 399 }),
    },
  },
  "rate-limit": {
    about: "answers 429, whatever the real count",
    parameters: {
      retry_after: { type: "number", about: "seconds to wait", default: 5, least: 0, most: 86_400 },
      headers: flag("false leaves away Retry-After and X-RateLimit-*", true),
      retry_header: flag("false leaves away Retry-After alone", true),
      retry_body: flag("false leaves retry_after out of the body", true),
      with_code: flag("false leaves code 4001 out of the body", true),
    },
  },
  "odd-shapes": {
    about: "answers reads with every quirk at its worst, wrong types, missing and null sections, hostile names",
    parameters: { required: flag("spoils one of the eight required fields too") },
  },
  burst: {
    about: "so many entries of a log list happen at once, just before the answer",
    parameters: {
      list: LIST,
      count: integer("how many, twice as many as the list shows if left out", { least: 1, most: BURST_MAX }),
    },
  },
  "same-second": {
    about: "entries with equal fields happen in the same second, just before the answer",
    parameters: { list: LIST, count: integer("how many", { default: 2, least: 1, most: BURST_MAX }) },
  },
  "forget-logs": { about: "the four log lists start over, empty; their entries never come back", parameters: {} },
  "partial-logs": {
    about: "this answer shows only the newest entries of the log lists",
    parameters: { keep: integer("how many of each list", { default: 3, least: 0, most: LOG_WINDOW_MAX }) },
  },
  "reorder-logs": { about: "this answer shows the log lists in another order", parameters: {} },
} satisfies Record<string, FaultRule>;

export type FaultKind = keyof typeof FAULT_RULES;
export const FAULT_KINDS = Object.keys(FAULT_RULES) as FaultKind[];

export const FAULT_FILTERS: Readonly<Record<string, ParameterRule>> = {
  server: { type: "text", about: "only calls for this server: the part of its key after the hyphen" },
  target: { type: "text", about: "only these calls", default: "all", choices: ["reads", "commands", "all"] },
  times: integer("for so many calls", { least: 1, most: 1_000_000 }),
  seconds: { type: "number", about: "for so long; without times and seconds until cleared", least: 0.01, most: 86_400 },
};

const REFUSED_SECONDS: ParameterRule = { type: "number", about: "for so long", default: 5, least: 0.01, most: 3600 };

export type FaultRequest = {
  kind: FaultKind;
  settings: Readonly<Record<string, ParameterValue>>;
  server: string | null;
  target: "reads" | "commands" | "all";
  times: number | null;
  seconds: number | null;
};

/** `field` is the invalid field. */
export type ParsedFault = { request: FaultRequest } | { field: string; problem: string };

const REFUSED_TIMES = integer("without effect: what never connects cannot be counted", { least: 1, most: 1_000_000 });

/** `refused` has no filter but its duration: a refused connection has no server and no target. */
function filtersOf(kind: FaultKind): Readonly<Record<string, ParameterRule>> {
  return kind === "refused" ? { seconds: REFUSED_SECONDS, times: REFUSED_TIMES } : FAULT_FILTERS;
}

export function describeFaultKinds(): unknown[] {
  return FAULT_KINDS.map((kind) => ({
    kind,
    about: FAULT_RULES[kind].about,
    parameters: { ...FAULT_RULES[kind].parameters, ...filtersOf(kind) },
  }));
}

export function parseFault(json: unknown): ParsedFault {
  if (typeof json !== "object" || json === null || Array.isArray(json)) {
    return { field: "body", problem: "must be a JSON object" };
  }
  const { kind, ...given } = json as Record<string, unknown>;
  if (!isFaultKind(kind)) return { field: "kind", problem: `must be one of ${FAULT_KINDS.join(", ")}` };
  const parameters: Readonly<Record<string, ParameterRule>> = FAULT_RULES[kind].parameters;
  const rules: Readonly<Record<string, ParameterRule>> = { ...parameters, ...filtersOf(kind) };
  for (const field of Object.keys(given)) {
    if (!Object.hasOwn(rules, field)) return { field, problem: `is not a parameter of ${kind}` };
  }
  const values: Record<string, ParameterValue> = {};
  for (const [field, rule] of Object.entries(rules)) {
    const value = given[field] ?? rule.default;
    if (value === undefined) {
      if (rule.required) return { field, problem: "is required" };
      continue;
    }
    const problem = findProblem(value, rule);
    if (problem) return { field, problem };
    values[field] = value as ParameterValue;
  }
  return { request: toRequest(kind, values, Object.keys(parameters)) };
}

/** `own` are the parameters of this kind; the other values are filters that every kind has. */
function toRequest(
  kind: FaultKind,
  values: Readonly<Record<string, ParameterValue>>,
  own: readonly string[],
): FaultRequest {
  const { server, target, times, seconds } = values;
  return {
    kind,
    settings: Object.fromEntries(Object.entries(values).filter(([field]) => own.includes(field))),
    server: typeof server === "string" ? server : null,
    target: target === "reads" || target === "commands" ? target : "all",
    times: typeof times === "number" ? times : null,
    seconds: typeof seconds === "number" ? seconds : null,
  };
}

function isFaultKind(kind: unknown): kind is FaultKind {
  return typeof kind === "string" && Object.hasOwn(FAULT_RULES, kind);
}

function findProblem(value: unknown, rule: ParameterRule): string | undefined {
  const { type, least = 0, most = Number.MAX_SAFE_INTEGER, choices } = rule;
  if (type === "boolean") return typeof value === "boolean" ? undefined : "must be true or false";
  if (type === "text") {
    if (typeof value !== "string" || /[\r\n]/.test(value)) return "must be text of one line";
    return choices && !choices.includes(value) ? `must be one of ${choices.join(", ")}` : undefined;
  }
  if (typeof value !== "number" || !Number.isFinite(value)) return "must be a number";
  if (type === "integer" && !Number.isInteger(value)) return "must be a whole number";
  return value < least || value > most ? `must be from ${least} to ${most}` : undefined;
}

export const FAULTS_MAX = 50;

/** A fault as it applies to one call. */
export type Fault = Pick<FaultRequest, "kind" | "settings"> & {
  /** How many calls this fault has affected before, so that it can vary from call to call. */
  readonly callsBefore: number;
};

/** `calls` counts the calls that the fault has affected. */
export type ArmedFault = FaultRequest & { id: number; calls: number; untilMs: number | null };

export class FaultList {
  #armed: ArmedFault[] = [];
  #nextId = 1;

  /** Undefined when FAULTS_MAX are armed already. */
  arm(request: FaultRequest, nowMs: number): ArmedFault | undefined {
    this.#removeExpired(nowMs);
    if (this.#armed.length >= FAULTS_MAX) return undefined;
    const untilMs = request.seconds === null ? null : nowMs + request.seconds * 1000;
    const fault = { ...request, id: this.#nextId++, calls: 0, untilMs };
    this.#armed.push(fault);
    return fault;
  }

  /** The oldest fault that applies to the call. Counts the call against the fault's `times`. */
  take(call: { kind: "read" | "command"; server: string }, nowMs: number): Fault | undefined {
    this.#removeExpired(nowMs);
    const found = this.#armed.find(
      ({ server, target }) =>
        (server === null || server === call.server) && (target === "all" || target === `${call.kind}s`),
    );
    if (!found) return undefined;
    return { kind: found.kind, settings: found.settings, callsBefore: found.calls++ };
  }

  list(nowMs: number): readonly ArmedFault[] {
    this.#removeExpired(nowMs);
    return this.#armed;
  }

  clear(): void {
    this.#armed = [];
  }

  #removeExpired(nowMs: number): void {
    this.#armed = this.#armed.filter(
      ({ times, calls, untilMs }) => (times === null || calls < times) && (untilMs === null || nowMs < untilMs),
    );
  }
}
