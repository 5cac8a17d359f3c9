// The instance that runs with these settings, if there is one: whether it is ready, and its notices. It is called without a
// proxy, because it is on this machine.
import { request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import { describeFault } from "../core/system-faults.ts";
import type { UncheckedErrorBody } from "../core/wire/error.ts";
import type { Notice, Readiness } from "../core/wire/health.ts";
import type { Config } from "../instance/config.ts";
import { findListening } from "../instance/listening-lock.ts";
import { type Finding, reportAs } from "./finding.ts";

const DEADLINE_MS = 5_000;
const BODY_MAX_CHARACTERS = 1_000_000;

/** The fields of a ready answer and of an error, none of them checked. */
type UncheckedBody = UncheckedErrorBody & { readonly [Name in keyof Readiness]?: unknown };

/** What is the matter, and what to do. */
type ToldNotice = Pick<Notice, "message" | "remedy">;

export type InstanceAnswer =
  | {
      readonly status: number;
      readonly notices: readonly ToldNotice[];
      readonly details: Readonly<Record<string, unknown>>;
    }
  | { readonly error: string };

/**
 * The address to call: where an instance on the data folder listens, else where the settings say. An instance that listens on all
 * addresses is called on the loopback address.
 */
export function findInstanceUrl({ dataDir, tls, ...set }: Pick<Config, "dataDir" | "host" | "port" | "tls">): string {
  const { address, port } = findListening(dataDir) ?? { address: set.host, port: set.port };
  const loopbackOf: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };
  const reachable = loopbackOf[address] ?? address;
  return `${tls ? "https" : "http"}://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}

/** With the token of deriveNoticesToken the notices name the servers that they are about. */
export async function callInstance(url: string, noticesToken?: string): Promise<InstanceAnswer> {
  try {
    const { status, text } = await get(`${url}/readyz`, noticesToken);
    const body = JSON.parse(text) as UncheckedBody | null;
    const notices = Array.isArray(body?.notices) ? body.notices.map(readNotice) : [];
    const details = typeof body?.details === "object" && body.details !== null ? body.details : {};
    return { status, notices, details: details as Record<string, unknown> };
  } catch (error) {
    if (error instanceof SyntaxError) return { error: "the answer does not come from Gatehouse" };
    return { error: describeFault(error) };
  }
}

/** An instance of an older version says no remedy. */
function readNotice(notice: { readonly [Name in keyof ToldNotice]?: unknown } | null): ToldNotice {
  const { message, remedy = "The log of the instance says when it began." } = notice ?? {};
  return { message: String(message), remedy: String(remedy) };
}

function get(url: string, token: string | undefined): Promise<{ status: number; text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
  const isSecure = url.startsWith("https:");
  // The certificate is for the public name, not the loopback address, and another check looks at its expiry.
  const options = {
    agent: false as const,
    signal: AbortSignal.timeout(DEADLINE_MS),
    rejectUnauthorized: false,
    headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
  };
  const call = (isSecure ? requestSecure : requestPlain)(url, options, (answer) => {
    let text = "";
    answer.setEncoding("utf8");
    answer.on("data", (chunk: string) => {
      text += chunk;
      if (text.length > BODY_MAX_CHARACTERS) answer.destroy(new Error("the answer is too large"));
    });
    answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text }));
    answer.on("error", reject);
  });
  call.on("error", reject);
  call.end();
  return promise;
}

const { fail, ok, skip, warn } = reportAs("instance");

/** `answer` is undefined when no instance holds the data folder. */
export function judgeInstance(answer: InstanceAnswer | undefined, url: string): Finding[] {
  if (!answer) return skip("No Gatehouse is running on this data folder.");
  if ("error" in answer) {
    return warn(
      `A Gatehouse is running on this data folder, but not at ${url} (${answer.error}).`,
      "Run doctor with the settings that Gatehouse was started with.",
    );
  }
  const told = answer.notices.flatMap(({ message, remedy }) => warn(`The instance at ${url} says: ${message}`, remedy));
  if (answer.status !== 200) {
    const details = Object.entries(answer.details).map(([part, state]) => `${part} ${state}`);
    const isNotReady = `The instance at ${url} is not ready (HTTP ${answer.status})`;
    return [
      ...fail(`${isNotReady}: ${details.join(", ") || "no details"}.`, "Check its log, and the other findings here."),
      ...told,
    ];
  }
  return told.length > 0 ? told : ok(`The instance at ${url} is ready.`);
}
