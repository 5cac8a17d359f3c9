// Sends webhooks. Every address that the name resolves to is checked, and the connection goes to a checked address: the name
// is not resolved a second time. Uses node:https, because fetch obeys the proxy variables of the environment.
import { lookup } from "node:dns/promises";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIPv4, type LookupFunction } from "node:net";
import {
  ANSWER_BYTES_MAX,
  POST_DEADLINE_MS,
  type Post,
  type PostError,
  type PostOutcome,
  type PostRequest,
} from "../core/ports/post.ts";
import { findAddressLiteral, isPublicAddress } from "../core/webhooks/address.ts";

/** At most this many addresses of a name are tried in one attempt. */
const ADDRESSES_TRIED_MAX = 4;
/** Headers of an answer that say when to send again. */
const KEPT_HEADERS = ["retry-after", "x-ratelimit-remaining", "x-ratelimit-reset-after"] as const;
/** Errors of a connection that was never open, so that another address of the name can be tried. */
const UNREACHABLE = new Set(["ECONNREFUSED", "ENETUNREACH", "EHOSTUNREACH", "EADDRNOTAVAIL"]);
/** Codes of certificates that are not trusted, besides those that begin with ERR_TLS, ERR_SSL or CERT_. */
const TLS_CODES = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "ERR_OSSL_SSL",
  "EPROTO",
]);

/** All addresses of a name. Rejects when there are none. */
export type ResolveName = (name: string) => Promise<readonly string[]>;

export type PinnedPostOptions = {
  /** GATEHOUSE_WEBHOOKS_PRIVATE=allow: http and private addresses are permitted. */
  readonly allowsPrivate: boolean;
  /** The system's resolver by default. */
  readonly resolveName?: ResolveName;
  readonly deadlineMs?: number;
  /** Certificates to trust instead of the usual ones. */
  readonly ca?: string;
};

type Answer = Pick<PostOutcome, "status" | "headers" | "body">;
type Result = Answer | { readonly error: PostError; readonly isUnreachable?: boolean };

export function createPinnedPost(options: PinnedPostOptions): Post {
  const { deadlineMs = POST_DEADLINE_MS } = options;
  return async (request, stop) => {
    const beganAt = performance.now();
    const end = new AttemptEnd();
    const timer = setTimeout(() => end.set("timeout"), deadlineMs);
    const stopped = () => end.set("stopped");
    stop?.addEventListener("abort", stopped, { once: true });
    if (stop?.aborted) stopped();
    try {
      const result = await sendToName(options, request, end);
      const durationMs = Math.round(performance.now() - beganAt);
      if (!("error" in result)) return { ...result, error: null, durationMs };
      return { status: null, headers: {}, body: "", error: result.error, durationMs };
    } finally {
      clearTimeout(timer);
      stop?.removeEventListener("abort", stopped);
    }
  };
}

/** Ends an attempt from outside, at most once: by its deadline, or because the instance stops. */
class AttemptEnd {
  readonly #promise = Promise.withResolvers<PostError>();
  /** Undefined while the attempt may go on. */
  reason: PostError | undefined;

  get promise(): Promise<PostError> {
    return this.#promise.promise;
  }

  set(reason: PostError): void {
    this.reason ??= reason;
    this.#promise.resolve(reason);
  }
}

async function sendToName(
  options: PinnedPostOptions,
  request: PostRequest,
  end: AttemptEnd,
): Promise<Result> {
  const { allowsPrivate } = options;
  const { url } = request;
  // The setting may have been changed since the url was entered.
  if (url.protocol !== "https:" && !(allowsPrivate && url.protocol === "http:"))
    return { error: "not_https" };
  const addresses = await findAddresses(options, url, end);
  if (end.reason !== undefined) return { error: end.reason };
  if (addresses.length === 0) return { error: "dns" };
  // One private address among public ones is enough: which one is used must not depend on chance.
  if (!allowsPrivate && !addresses.every(isPublicAddress)) return { error: "private_address" };
  let result: Result = { error: "connection" };
  for (const address of addresses.slice(0, ADDRESSES_TRIED_MAX)) {
    result = await sendToAddress(options, request, address, end);
    if (!("error" in result && result.isUnreachable)) break;
  }
  return result;
}

/** Empty when the name has none, or when the attempt has ended before they were found. */
async function findAddresses(
  { resolveName = resolveWithSystem }: PinnedPostOptions,
  url: URL,
  end: AttemptEnd,
): Promise<readonly string[]> {
  const literal = findAddressLiteral(url);
  if (literal !== undefined) return [literal];
  const found = resolveName(url.hostname).catch((): readonly string[] => []);
  return Promise.race([found, end.promise.then((): readonly string[] => [])]);
}

/** IPv4 first, because a network that drops IPv6 packets silently would use up the deadline. */
async function resolveWithSystem(name: string): Promise<readonly string[]> {
  const found = await lookup(name, { all: true });
  const addresses = found.map(({ address }) => address);
  return [...addresses.filter(isIPv4), ...addresses.filter((address) => !isIPv4(address))];
}

function sendToAddress(
  { ca }: PinnedPostOptions,
  { method, url, headers, body }: PostRequest,
  address: string,
  end: AttemptEnd,
): Promise<Result> {
  const { promise, resolve } = Promise.withResolvers<Result>();
  const bytes = Buffer.from(body);
  const isSecure = url.protocol === "https:";
  const send = isSecure ? httpsRequest : httpRequest;
  const request = send(url, {
    method,
    headers: { ...headers, "content-length": bytes.length },
    // A connection for each request: a pool would need a ceiling, and its connections another check.
    agent: false,
    lookup: pinTo(address),
    ...(isSecure && {
      // Explicit, because an environment variable can change the default.
      rejectUnauthorized: true,
      ...(findAddressLiteral(url) === undefined && { servername: url.hostname.replace(/\.$/, "") }),
      ...(ca !== undefined && { ca }),
    }),
  });
  let answer: AnswerReader | undefined;
  const finish = (error: Result) => resolve(answer?.read() ?? error);
  void end.promise.then((error) => finish({ error }));
  request.on("error", (error) => finish(toFailure(error)));
  request.on("close", () => finish({ error: "connection" }));
  // An answer that switches to another protocol is none.
  request.on("upgrade", () => finish({ error: "protocol" }));
  request.on("response", (response) => {
    answer = new AnswerReader(response, () => finish({ error: "connection" }));
  });
  request.end(bytes);
  return promise.finally(() => request.destroy());
}

/** Every lookup of the connection gives this address, whatever the name resolves to meanwhile. */
function pinTo(address: string): LookupFunction {
  const family = isIPv4(address) ? 4 : 6;
  return (_name, options, callback) => {
    if (options.all) callback(null, [{ address, family }]);
    else callback(null, address, family);
  };
}

/** Reads an answer. Its status counts as soon as it is there: a body that breaks off or does not end is cut. */
class AnswerReader {
  readonly #response: IncomingMessage;
  readonly #chunks: Buffer[] = [];
  #size = 0;

  /** `onEnd` is called when there is nothing more to read. */
  constructor(response: IncomingMessage, onEnd: () => void) {
    this.#response = response;
    response.on("data", (chunk: Buffer) => {
      const part = chunk.subarray(0, ANSWER_BYTES_MAX - this.#size);
      this.#chunks.push(part);
      this.#size += part.length;
      if (this.#size >= ANSWER_BYTES_MAX) onEnd();
    });
    for (const event of ["end", "aborted", "error", "close"]) response.on(event, onEnd);
  }

  read(): Answer {
    const { statusCode = 0, headers } = this.#response;
    const kept = KEPT_HEADERS.map((name) => {
      const value = headers[name];
      return [name, Array.isArray(value) ? value[0] : value];
    });
    const body = Buffer.concat(this.#chunks).toString("utf8");
    return { status: statusCode, headers: Object.fromEntries(kept), body };
  }
}

function toFailure(error: Error): Result {
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (TLS_CODES.has(code) || /^(?:ERR_TLS|ERR_SSL|CERT_)/.test(code)) return { error: "tls" };
  if (/^HPE_|^ERR_HTTP/.test(code)) return { error: "protocol" };
  return { error: "connection", isUnreachable: UNREACHABLE.has(code) };
}
