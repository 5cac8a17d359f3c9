// The client of the game API. Trusts nothing it is told: one deadline for the whole call, a cap on the body, no
// redirects, and no message passed on before it is cleaned.
import type { Clock, LimitHint, Upstream, UpstreamReading } from "../core/ports.ts";
import { SECTIONS } from "../core/sections.ts";
import { cleanMessage } from "./clean-message.ts";
import { describeStatus, parseFailure, parseLimitHint } from "./parse-failure.ts";
import { createServerInfoParser } from "./parse-server-info.ts";

export const BODY_MAX_BYTES = 4 * 1024 * 1024;
/** One section costs as much as nine, so every call asks for all and any reader can be served from its answer. */
const READ_QUERY = SECTIONS.map((name) => `${name}=true`).join("&");

export type UpstreamSettings = {
  readonly baseUrl: string;
  readonly globalKey: string | undefined;
  readonly timeoutMs: number;
  readonly keepsUnknown: boolean;
  readonly clock: Clock;
};

export function createUpstream(settings: UpstreamSettings): Upstream {
  const readUrl = `${settings.baseUrl.replace(/\/+$/, "")}/v2/server?${READ_QUERY}`;
  const parseServerInfo = createServerInfoParser({ keepsUnknown: settings.keepsUnknown });

  async function readServer(serverKey: string): Promise<UpstreamReading> {
    const secrets = [serverKey, settings.globalKey ?? ""];
    const headers: Record<string, string> = { "server-key": serverKey, accept: "application/json" };
    if (settings.globalKey !== undefined) headers.authorization = settings.globalKey;
    const deadline = AbortSignal.timeout(settings.timeoutMs);
    try {
      // A connection of its own for each call: on a kept one that breaks, the runtime would ask a second time by itself.
      const response = await fetch(readUrl, {
        headers,
        redirect: "manual",
        signal: deadline,
        keepalive: false,
      });
      const text = await readText(response);
      if (text === undefined) return fail("The game API's answer is larger than 4 MiB.");
      // Only a refusal names a time in its body; a good one is not parsed for it.
      const hint = parseLimitHint(response.headers, response.status === 200 ? "" : text, settings.clock());
      if (response.status === 200) {
        const parts = parseServerInfo(text);
        return parts ? { hint, parts } : fail("The game API's answer is not a server's state.", hint);
      }
      if (response.status >= 300 && response.status < 400) {
        return fail("The game API answered with a redirect, which is not followed.", hint);
      }
      const failure = parseFailure(response.status, text);
      const message = cleanMessage(failure.message, secrets) || describeStatus(response.status);
      return { hint, failure: { ...failure, message } };
    } catch (error) {
      return fail(describeTransportFault(error, deadline.aborted, settings.timeoutMs));
    }
  }

  return { readServer };
}

function fail(message: string, hint: LimitHint | null = null): UpstreamReading {
  return { hint, failure: { code: 0, message, isRateLimit: false } };
}

/** Undefined when the body, unpacked, is over the cap; the rest of it is not read. */
async function readText(response: Response): Promise<string | undefined> {
  if (!response.body) return "";
  const decoder = new TextDecoder();
  let size = 0;
  let text = "";
  for await (const chunk of response.body) {
    size += chunk.byteLength;
    if (size > BODY_MAX_BYTES) return undefined;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** Plain sentences: the runtime's own messages may name addresses, and no caller can act on them. */
function describeTransportFault(error: unknown, isTimeout: boolean, timeoutMs: number): string {
  if (isTimeout) return `The game API did not answer within ${timeoutMs} ms.`;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ECONNREFUSED" || code === "ConnectionRefused") return "The game API refused the connection.";
  if (code === "ECONNRESET" || code === "ConnectionClosed") return "The game API cut the connection.";
  if (code === "ZlibError") return "The game API's answer could not be unpacked.";
  return "The game API could not be reached.";
}
