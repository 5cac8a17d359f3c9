// The client of the game API. It does not trust the answers: one deadline for the whole call, a cap on the body, no
// redirects, and every message is cleaned.
import { findClockOffset } from "../core/clock-offset.ts";
import type { Clock } from "../core/ports/clock.ts";
import type { Delivery, LimitHint, Upstream, UpstreamFailure, UpstreamReading } from "../core/ports/upstream.ts";
import { BREAKER_CODES, NO_CODE } from "../core/readings/upstream-codes.ts";
import { checkEveryMs, RunningTime } from "../core/running-time.ts";
import { SECTIONS } from "../core/sections.ts";
import { type CappedBody, fetchPacked, readCappedText } from "./capped-body.ts";
import { cleanMessage } from "./clean-message.ts";
import { cleanParts } from "./clean-parts.ts";
import { describeStatus, parseFailure, parseLimitHint } from "./parse-failure.ts";
import { parseContent, ServerInfoParser } from "./parse-server-info.ts";
import { KnownKeys } from "./secret-patterns.ts";
import { hasTooManyValues } from "./value-limits.ts";

export const BODY_MAX_BYTES = 4 * 1024 * 1024;
/** Every call requests all sections: they cost no more than one, and the answer then serves every reader. */
const READ_QUERY = SECTIONS.map((name) => `${name}=true`).join("&");

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

export type UpstreamSettings = {
  readonly baseUrl: string;
  readonly globalKey: string | undefined;
  readonly timeoutMs: number;
  readonly keepsUnknown: boolean;
  readonly clock: Clock;
};

type BodyProblem = Extract<CappedBody, { problem: string }>["problem"] | "too-many-values";
const BODY_PROBLEMS: Readonly<Record<BodyProblem, string>> = {
  "too-large": "The game API's answer is larger than 4 MiB.",
  "unknown-encoding": "The game API's answer is packed in an unknown way.",
  damaged: "The game API's answer could not be unpacked.",
  "too-many-values": "The game API's answer has more values than a server's state can have.",
};

const SECRET_ANSWER = "The game API's answer holds a key that cannot be removed from it.";

type Answer = {
  readonly status: number;
  readonly isSuccess: boolean;
  readonly headers: Headers;
  readonly hint: LimitHint;
  readonly text: string;
};
/** `unsent`: no byte of the call can have arrived. `lost`: it may have arrived. */
type Fault = { readonly fault: "unsent" | "lost"; readonly message: string };
type Undelivered = { readonly outcome: "refused" | "lost"; readonly failure: UpstreamFailure };

/**
 * The runtime creates its HTTP client with the first call, and ends the process when there are no file descriptors for it.
 * This creates it at the start, with a call to a port where nothing listens.
 */
export function warmUpHttpClient(): void {
  const signal = AbortSignal.timeout(1_000);
  fetch("http://127.0.0.1:1/", { signal, proxy: false } as BunFetchRequestInit).catch(() => {});
}

export class UpstreamClient implements Upstream {
  readonly #baseUrl: string;
  /** Calls to this machine must not go through the proxy that HTTP_PROXY may name. */
  readonly #isLocal: boolean;
  readonly #globalKey: string | undefined;
  readonly #timeoutMs: number;
  readonly #clock: Clock;
  readonly #parser: ServerInfoParser;
  readonly #knownKeys = new KnownKeys();
  readonly #isKnownKey = (text: string) => this.#knownKeys.has(text);

  constructor({ baseUrl, globalKey, timeoutMs, keepsUnknown, clock }: UpstreamSettings) {
    this.#baseUrl = baseUrl.replace(/\/+$/, "");
    this.#isLocal = LOOPBACK.test(URL.parse(this.#baseUrl)?.hostname ?? "");
    this.#globalKey = globalKey;
    this.#timeoutMs = timeoutMs;
    this.#clock = clock;
    this.#parser = new ServerInfoParser({ keepsUnknown });
  }

  async readServer(serverKey: string): Promise<UpstreamReading> {
    const answer = await this.#call(serverKey, `/v2/server?${READ_QUERY}`, { method: "GET" });
    if ("fault" in answer) return { hint: null, failure: toFailure(answer.message) };
    const { hint, text, isSuccess } = answer;
    if (!isSuccess) return { hint, failure: this.#explainRefusal(answer, serverKey) };
    const parsed = this.#parser.parse(text);
    if (parsed) {
      const { parts, content } = parsed;
      const cleaned = cleanParts(parts, this.#secrets(serverKey), this.#isKnownKey);
      if (!cleaned) return { hint, failure: toFailure(SECRET_ANSWER) };
      return { hint, parts: cleaned, content: cleaned === parts ? content : parseContent(cleaned, content) };
    }
    // The game API may send a refusal with status 200; its code decides.
    const failure = this.#explainRefusal(answer, serverKey);
    if (failure.code !== NO_CODE) return { hint: this.#parseRefusalHint(answer), failure };
    return { hint, failure: toFailure("The game API's answer is not a server's state.") };
  }

  async sendCommand(serverKey: string, command: string): Promise<Delivery> {
    const body = JSON.stringify({ command });
    const answer = await this.#call(serverKey, "/v2/server/command", { method: "POST", body });
    if ("fault" in answer) return { hint: null, outcome: answer.fault, failure: toFailure(answer.message) };
    const { hint } = answer;
    if (!answer.isSuccess) return { hint, ...this.#explainUndelivered(answer, serverKey) };
    if (!isJson(answer.text)) {
      return { hint, outcome: "lost", failure: toFailure("The game API's answer makes no sense.") };
    }
    const { code } = parseFailure(answer.status, answer.text);
    if (code === NO_CODE) return { hint, outcome: "done" };
    return { hint: this.#parseRefusalHint(answer), ...this.#explainUndelivered(answer, serverKey) };
  }

  /** One call with one deadline. */
  async #call(
    serverKey: string,
    path: string,
    init: { readonly method: string; readonly body?: string },
  ): Promise<Answer | Fault> {
    this.#knownKeys.add(serverKey);
    const headers: Record<string, string> = { "server-key": serverKey, accept: "application/json" };
    if (this.#globalKey !== undefined) headers.authorization = this.#globalKey;
    if (init.body !== undefined) headers["content-type"] = "application/json";
    const giveUp = new AbortController();
    const deadline = giveUp.signal;
    // An answer that has arrived while this process was held up is still read: for a command, it says what became of it.
    const everyMs = checkEveryMs(this.#timeoutMs);
    const running = new RunningTime(performance.now(), everyMs);
    const timer = setInterval(() => {
      if (running.at(performance.now()) >= this.#timeoutMs) giveUp.abort();
    }, everyMs);
    try {
      const sentAt = Date.now();
      // Each call has its own connection: when a kept-alive one breaks, the runtime repeats the call without telling us.
      const response = await fetchPacked(this.#baseUrl + path, {
        ...init,
        headers,
        redirect: "manual",
        signal: deadline,
        keepalive: false,
        ...(this.#isLocal && { proxy: false }),
      } as BunFetchRequestInit);
      const { status } = response;
      // By the machine's own clock, whatever clock Gatehouse follows.
      const clockOffsetMs = findClockOffset(response.headers, sentAt, Date.now());
      const body = await readCappedText(response, BODY_MAX_BYTES, deadline);
      const problem = findProblem(body);
      // A limit counts even when its body is unusable: calls during a limit lead to bans.
      if (problem && status !== 429) return { fault: "lost", message: BODY_PROBLEMS[problem] };
      const text = problem || "problem" in body ? "" : body.text;
      const isSuccess = status === 200;
      // Only the body of a refusal can name a time, so that of a success is not parsed for it.
      const hint = { ...parseLimitHint(response.headers, isSuccess ? "" : text, this.#clock()), clockOffsetMs };
      return { status, isSuccess, headers: response.headers, hint, text };
    } catch (error) {
      return {
        fault: !deadline.aborted && isUnsent(error) ? "unsent" : "lost",
        message: describeTransportFault(error, deadline.aborted, this.#timeoutMs),
      };
    } finally {
      clearInterval(timer);
    }
  }

  /** Reads the body too, even when the refusal came with status 200. */
  #parseRefusalHint({ headers, text }: Answer): LimitHint {
    return parseLimitHint(headers, text, this.#clock());
  }

  /** A fault between the game API and the game says nothing about the command: the game may have received it. */
  #explainUndelivered(answer: Answer, serverKey: string): Undelivered {
    const failure = this.#explainRefusal(answer, serverKey);
    const isLost = BREAKER_CODES.has(failure.code) && !failure.isRateLimit;
    return { outcome: isLost ? "lost" : "refused", failure };
  }

  #explainRefusal({ status, text }: Answer, serverKey: string): UpstreamFailure {
    if (status >= 300 && status < 400) {
      return toFailure("The game API answered with a redirect, which is not followed.");
    }
    const failure = parseFailure(status, text);
    const message = cleanMessage(failure.message, this.#secrets(serverKey), this.#isKnownKey);
    return { ...failure, message: message || describeStatus(status) };
  }

  #secrets(serverKey: string): readonly string[] {
    return [serverKey, this.#globalKey ?? ""];
  }
}

function findProblem(body: CappedBody): BodyProblem | undefined {
  if ("problem" in body) return body.problem;
  return hasTooManyValues(body.text) ? "too-many-values" : undefined;
}

function toFailure(message: string): UpstreamFailure {
  return { code: NO_CODE, message, isRateLimit: false };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Faults before the first byte of a request is sent: no connection, no such host, an untrusted certificate. */
const UNSENT_FAULTS: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ConnectionRefused",
  "ENOTFOUND",
  "EAI_AGAIN",
  "DNSException",
  "ENETUNREACH",
  "EHOSTUNREACH",
  "FailedToOpenSocket",
]);
const CERTIFICATE_FAULT = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/;

function isUnsent(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return UNSENT_FAULTS.has(code) || CERTIFICATE_FAULT.test(code);
}

/** In our own words, because the runtime's messages may name addresses. */
function describeTransportFault(error: unknown, isTimeout: boolean, timeoutMs: number): string {
  if (isTimeout) return `The game API did not answer within ${timeoutMs} ms.`;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ECONNREFUSED" || code === "ConnectionRefused") return "The game API refused the connection.";
  if (code === "ECONNRESET" || code === "ConnectionClosed") return "The game API cut the connection.";
  return "The game API could not be reached.";
}
