// Asks the instance that these settings describe whether it is ready. Never through a proxy: it is on this machine.
import { request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import type { Config } from "../config.ts";
import type { UncheckedErrorBody } from "../core/wire/error.ts";
import type { Readiness } from "../core/wire/health.ts";

const WAIT_MS = 5_000;
const BODY_MAX_CHARACTERS = 1_000_000;

/** Ready or not: both bodies have fields of their own. */
type UncheckedBody = UncheckedErrorBody & { readonly [Name in keyof Readiness]?: unknown };

export type InstanceAnswer =
  | {
      readonly status: number;
      readonly notices: readonly string[];
      readonly details: Readonly<Record<string, unknown>>;
    }
  | { readonly error: string };

/** The address to ask at: listening everywhere includes here. */
export function findInstanceUrl({ host, port, tls }: Pick<Config, "host" | "port" | "tls">): string {
  const everywhere: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };
  const here = everywhere[host] ?? host;
  return `${tls ? "https" : "http"}://${here.includes(":") ? `[${here}]` : here}:${port}`;
}

export async function askInstance(url: string): Promise<InstanceAnswer> {
  try {
    const { status, text } = await get(`${url}/readyz`);
    const body = JSON.parse(text) as UncheckedBody | null;
    const notices = Array.isArray(body?.notices) ? body.notices.map(String) : [];
    const details = typeof body?.details === "object" && body.details !== null ? body.details : {};
    return { status, notices, details: details as Record<string, unknown> };
  } catch (error) {
    if (error instanceof SyntaxError) return { error: "the answer is not Gatehouse's" };
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    return { error: String(code ?? (error instanceof Error ? error.message : error)) };
  }
}

function get(url: string): Promise<{ status: number; text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
  const isSecure = url.startsWith("https:");
  // The certificate's name need not be that of the loopback address, and expiry has a check of its own.
  const options = { agent: false as const, signal: AbortSignal.timeout(WAIT_MS), rejectUnauthorized: false };
  const call = (isSecure ? requestSecure : requestPlain)(url, options, (answer) => {
    let text = "";
    answer.setEncoding("utf8");
    answer.on("data", (piece: string) => {
      text += piece;
      if (text.length > BODY_MAX_CHARACTERS) answer.destroy(new Error("the answer is too large"));
    });
    answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text }));
    answer.on("error", reject);
  });
  call.on("error", reject);
  call.end();
  return promise;
}
