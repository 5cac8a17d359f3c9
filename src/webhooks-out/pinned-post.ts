// Sends webhooks. Every address that the name resolves to is checked, and the connection goes to a checked address: the name
// is not resolved a second time. Uses a socket, because fetch obeys the proxy variables of the environment, and node:https parses
// every interim answer that a receiver sends, without an end.
import { lookup } from "node:dns/promises";
import { connect, isIPv4, type Socket } from "node:net";
import { connect as connectSecurely } from "node:tls";
import { POST_DEADLINE_MS, type Post, type PostError, type PostRequest } from "../core/ports/post.ts";
import { findAddressLiteral, isPublicAddress } from "../core/webhooks/address.ts";
import { type Answer, AnswerReader } from "./answer-reader.ts";

/** At most this many addresses of a name are tried in one attempt. */
const ADDRESSES_TRIED_MAX = 4;
/** A receiver may send session tickets without an end. Usual servers send one to four. */
const SESSION_TICKETS_MAX = 10;
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

async function sendToName(options: PinnedPostOptions, request: PostRequest, end: AttemptEnd): Promise<Result> {
  const { allowsPrivate } = options;
  const { url } = request;
  // The setting may have been changed since the url was entered.
  if (url.protocol !== "https:" && !(allowsPrivate && url.protocol === "http:")) return { error: "not_https" };
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
  request: PostRequest,
  address: string,
  end: AttemptEnd,
): Promise<Result> {
  const { promise, resolve } = Promise.withResolvers<Result>();
  const answer = new AnswerReader();
  const finish = (error: Result) => resolve(answer.find() ?? (answer.isForeign ? { error: "protocol" } : error));
  const socket = connectTo(address, request.url, ca, () => socket.write(writeRequest(request)));
  void end.promise.then((error) => finish({ error }));
  socket.on("data", (bytes: Buffer) => {
    if (answer.take(bytes) !== "more") finish({ error: "protocol" });
  });
  let tickets = 0;
  socket.on("session", () => {
    if (++tickets > SESSION_TICKETS_MAX) finish({ error: "protocol" });
  });
  socket.on("error", (error) => finish(toFailure(error)));
  for (const event of ["end", "close"]) socket.on(event, () => finish({ error: "connection" }));
  return promise.finally(() => socket.destroy());
}

/** `onReady` is called when the request may be written: over TLS, after the certificate was checked. */
function connectTo(address: string, url: URL, ca: string | undefined, onReady: () => void): Socket {
  const isSecure = url.protocol === "https:";
  const port = Number(url.port || (isSecure ? 443 : 80));
  if (!isSecure) return connect({ host: address, port }, onReady);
  const options = {
    host: address,
    port,
    ALPNProtocols: ["http/1.1"],
    // Explicit, because an environment variable can change the default.
    rejectUnauthorized: true,
    ...(findAddressLiteral(url) === undefined && { servername: url.hostname.replace(/\.$/, "") }),
    ...(ca !== undefined && { ca }),
  };
  return connectSecurely(options, onReady);
}

/** A connection for each request: a pool would need a ceiling, and its connections another check. */
function writeRequest({ method, url, headers, body }: PostRequest): Buffer {
  const bytes = Buffer.from(body);
  const fields = { host: url.host, connection: "close", ...headers, "content-length": String(bytes.length) };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `${method} ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join("")}\r\n`;
  return Buffer.concat([Buffer.from(head, "latin1"), bytes]);
}

function toFailure(error: Error): Result {
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (TLS_CODES.has(code) || /^(?:ERR_TLS|ERR_SSL|CERT_)/.test(code)) return { error: "tls" };
  return { error: "connection", isUnreachable: UNREACHABLE.has(code) };
}
