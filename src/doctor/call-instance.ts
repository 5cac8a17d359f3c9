// Calls /readyz of the instance that these settings describe. Never through a proxy: the instance is on this machine.
import { request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import type { Config } from "../config.ts";
import { describeFault } from "../core/system-faults.ts";
import type { UncheckedErrorBody } from "../core/wire/error.ts";
import type { Readiness } from "../core/wire/health.ts";

const DEADLINE_MS = 5_000;
const BODY_MAX_CHARACTERS = 1_000_000;

/** The fields of a ready answer and of an error, none of them checked. */
type UncheckedBody = UncheckedErrorBody & { readonly [Name in keyof Readiness]?: unknown };

export type InstanceAnswer =
  | {
      readonly status: number;
      readonly notices: readonly string[];
      readonly details: Readonly<Record<string, unknown>>;
    }
  | { readonly error: string };

/** The address to call: an instance that listens on all addresses is called on the loopback address. */
export function findInstanceUrl({ host, port, tls }: Pick<Config, "host" | "port" | "tls">): string {
  const loopbackOf: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };
  const reachable = loopbackOf[host] ?? host;
  return `${tls ? "https" : "http"}://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}

/** With the token of deriveNoticesToken the notices name the servers that they are about. */
export async function callInstance(url: string, noticesToken?: string): Promise<InstanceAnswer> {
  try {
    const { status, text } = await get(`${url}/readyz`, noticesToken);
    const body = JSON.parse(text) as UncheckedBody | null;
    const notices = Array.isArray(body?.notices) ? body.notices.map(String) : [];
    const details = typeof body?.details === "object" && body.details !== null ? body.details : {};
    return { status, notices, details: details as Record<string, unknown> };
  } catch (error) {
    if (error instanceof SyntaxError) return { error: "the answer does not come from Gatehouse" };
    return { error: describeFault(error) };
  }
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
