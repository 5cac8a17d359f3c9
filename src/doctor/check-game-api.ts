// The game API: whether it can be reached, answers in time, and answers as an API does. One call, to its front page and
// without a key: API calls with a missing or wrong key can get an address banned.
import { lookup } from "node:dns/promises";
import { connect } from "node:net";
import { findClockOffset } from "../core/clock-offset.ts";
import type { UpstreamFailure } from "../core/ports/upstream.ts";
import { fetchPacked, readCappedText } from "../upstream/capped-body.ts";
import { describePause, reportGlobalKey } from "./call-notes.ts";
import { type Finding, reportAs } from "./finding.ts";

const { fail, ok, skip, warn } = reportAs("game API");
const DEADLINE_MAX_MS = 30_000;
const BODY_MAX_BYTES = 64 * 1024;

/** `json`: an object, as every answer of the game API is, refusals too. `page`: HTML. */
export type AnswerShape = "json" | "page" | "other";

export type GameApiFacts =
  | {
      readonly kind: "answered";
      readonly status: number;
      readonly shape: AnswerShape;
      readonly tookMs: number;
      /** The host of a redirect to another host. */
      readonly movedTo: string | undefined;
      /** How far our clock is ahead of the game API's. */
      readonly offsetMs: number | undefined;
    }
  | { readonly kind: "unknown-name" | "unreachable" | "untrusted" | "silent" | "broken"; readonly reason: string }
  /** The store forbids the call, or cannot say whether it does. */
  | { readonly kind: "paused"; readonly pauseMs: number }
  | { readonly kind: "global-key-refused"; readonly failure: UpstreamFailure }
  | { readonly kind: "not-called" };

export async function callGameApi(baseUrl: string, timeoutMs: number): Promise<GameApiFacts> {
  const deadlineMs = Math.min(timeoutMs, DEADLINE_MAX_MS);
  const signal = AbortSignal.timeout(deadlineMs);
  const startedAt = performance.now();
  const sentAt = Date.now();
  try {
    const response = await fetchPacked(`${baseUrl.replace(/\/+$/, "")}/`, {
      redirect: "manual",
      signal,
      keepalive: false,
    });
    const receivedAt = Date.now();
    const body = await readCappedText(response, BODY_MAX_BYTES, signal);
    return {
      kind: "answered",
      status: response.status,
      shape: findShape("text" in body ? body.text : "", response.headers.get("content-type") ?? ""),
      tookMs: Math.round(performance.now() - startedAt),
      movedTo: findNewHost(baseUrl, response.headers.get("location")),
      offsetMs: findClockOffset(response.headers, sentAt, receivedAt),
    };
  } catch (error) {
    // Checked only after a failure: behind a proxy this machine need not resolve the name or reach the port.
    return signal.aborted
      ? { kind: "silent", reason: `${deadlineMs} ms` }
      : findBrokenStep(new URL(baseUrl), error, deadlineMs);
  }
}

export function findShape(text: string, contentType: string): AnswerShape {
  if (/^\s*<(?:!doctype\s+html|html|head|body)\b/i.test(text) || /\bhtml\b/i.test(contentType)) return "page";
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === "object" && body !== null && !Array.isArray(body) ? "json" : "other";
  } catch {
    return "other";
  }
}

function findNewHost(baseUrl: string, location: string | null): string | undefined {
  const target = location === null ? null : URL.parse(location, baseUrl);
  return target && target.host !== new URL(baseUrl).host ? target.host : undefined;
}

async function findBrokenStep(url: URL, error: unknown, deadlineMs: number): Promise<GameApiFacts> {
  const code = error instanceof Error && "code" in error ? String(error.code) : "no code";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const addresses = await lookup(host, { all: true }).catch(() => []);
  const [first] = addresses;
  if (!first) return { kind: "unknown-name", reason: host };
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
  if (!(await canConnect(first.address, port, deadlineMs))) {
    return { kind: "unreachable", reason: `${host}, port ${port}` };
  }
  const isTrustFault = /CERT|VERIFY|SELF_SIGNED|TLS|SSL|HOSTNAME/i.test(code);
  return { kind: isTrustFault ? "untrusted" : "broken", reason: code };
}

function canConnect(host: string, port: number, deadlineMs: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ host, port, timeout: deadlineMs });
  socket.once("connect", () => resolve(true));
  socket.once("timeout", () => resolve(false));
  socket.once("error", () => resolve(false));
  return promise.finally(() => socket.destroy());
}

/** `facts` is "simulator" when no game API is configured. */
export function judgeGameApi(facts: GameApiFacts | "simulator", url: string): Finding[] {
  if (facts === "simulator") {
    return warn(
      "No game API is configured: the built-in simulator is used, and every server is simulated.",
      "Set GATEHOUSE_UPSTREAM_URL to the address of the real game API.",
    );
  }
  switch (facts.kind) {
    case "unknown-name":
      return fail(
        `The name ${facts.reason} cannot be resolved.`,
        "Check GATEHOUSE_UPSTREAM_URL, and the system's name servers (/etc/resolv.conf).",
      );
    case "unreachable":
      return fail(
        `No connection to ${facts.reason}.`,
        "Check GATEHOUSE_UPSTREAM_URL, and that the firewall lets connections out.",
      );
    case "untrusted":
      return fail(
        `The certificate of ${url} is not trusted (${facts.reason}).`,
        "Check GATEHOUSE_UPSTREAM_URL and the clock; the authority of a proxy that intercepts TLS belongs into NODE_EXTRA_CA_CERTS.",
      );
    case "silent":
      return fail(
        `${url} did not answer within ${facts.reason}.`,
        "Try again; if it happens again, check the network, or raise GATEHOUSE_UPSTREAM_TIMEOUT_MS.",
      );
    case "broken":
      return fail(
        `${url} accepts connections but gives no HTTP answer (${facts.reason}).`,
        "Check the address, its port, and whether it is http:// or https://.",
      );
    case "paused":
      return skip(`Not called: ${describePause(facts.pauseMs)}`);
    case "global-key-refused":
      return reportGlobalKey("game API", facts.failure);
    case "not-called":
      return skip("Not called: a pause may be noted in the store, which cannot be read.");
    case "answered":
      return judgeAnswer(facts, url);
  }
}

const WRONG_ADDRESS =
  "Check GATEHOUSE_UPSTREAM_URL: it may be the address of something else. `gatehouse doctor --ask-keys` asks the API itself, with the stored server keys.";

function judgeAnswer(facts: GameApiFacts & { kind: "answered" }, url: string): Finding[] {
  const { status, shape, tookMs, movedTo } = facts;
  if (movedTo !== undefined) {
    return warn(
      `${url} redirects to ${movedTo}; redirects of the game API are not followed.`,
      "Check whether the game API has moved, and set GATEHOUSE_UPSTREAM_URL to its new address.",
    );
  }
  if (status === 429) {
    return warn(`${url} limits this address at the moment (HTTP 429).`, "Wait a few minutes before the next try.");
  }
  if (status >= 500) {
    return warn(
      `${url} answers, but with HTTP ${status}.`,
      "The game API has a problem of its own: check its status page, and wait.",
    );
  }
  if (status >= 300 && status < 400) {
    return warn(
      `${url} answers with a redirect (HTTP ${status}); redirects of the game API are not followed.`,
      WRONG_ADDRESS,
    );
  }
  if (shape === "page") {
    return warn(`${url} answers with a web page (HTTP ${status}), not as an API does.`, WRONG_ADDRESS);
  }
  if (shape === "other") {
    return warn(`${url} answers (HTTP ${status}), but without the JSON of an API.`, WRONG_ADDRESS);
  }
  return ok(`${url} answers with JSON, as an API does, after ${tookMs} ms.`);
}
