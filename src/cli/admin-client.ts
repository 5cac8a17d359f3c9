// Asks the admin API over HTTP: one deadline for each call, no redirects with the key, and every refusal as a sentence
// with its exit code.
import { ERRORS } from "../core/errors.ts";
import { PAGE_SIZE_MAX } from "../core/page-size.ts";
import type { UncheckedErrorBody } from "../core/wire/error.ts";
import type { PageOf } from "../core/wire/page.ts";
import type { AdminAddress } from "./admin-address.ts";
import { CommandFailed, EXIT_CODES, failUsage, toExitCode } from "./exit-codes.ts";
import type { MasterKey } from "./master-key.ts";
import { escapeUnsafe } from "./safe-text.ts";

const DEADLINE_MS = 10_000;

export type Answer<T> = { readonly text: string; readonly body: T };
export type Question = {
  readonly method?: "GET" | "POST" | "PATCH" | "DELETE";
  /** Segments below /admin. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: Readonly<Record<string, unknown>>;
  /** What to say when there is no such thing. */
  readonly absent?: string;
};

/** Failures are CommandFailed. The body is what our own API promises; nobody has checked it. */
export type AdminClient = {
  ask<T>(question: Question): Promise<Answer<T>>;
  /** Page after page, until the end or until there are so many; `next` is null at the end. */
  list<T>(question: Question, limit?: number): Promise<PageOf<T>>;
};

export function createAdminClient(
  address: AdminAddress,
  masterKey: MasterKey,
  deadlineMs = DEADLINE_MS,
): AdminClient {
  async function ask<T>(question: Question): Promise<Answer<T>> {
    const { status, text, location } = await send(address, masterKey, question, deadlineMs);
    if (status >= 300 && status < 400) {
      throw new CommandFailed(
        `${address.base} points elsewhere (${escapeUnsafe(location)}), and the master key is not sent there by itself: give the right address with --url`,
      );
    }
    const body = parseJson(text);
    if (status >= 200 && status < 300 && (status === 204 || isObject(body))) return { text, body: body as T };
    throw isObject(body) && typeof body.code === "number"
      ? describeRefusal(body, body.code, question, address, masterKey)
      : describeStranger(status, address);
  }

  return {
    ask,
    async list<T>(question: Question, limit = Number.POSITIVE_INFINITY) {
      const items: T[] = [];
      let next: string | null = null;
      do {
        const query: Record<string, string | undefined> = {
          ...question.query,
          limit: String(Math.min(PAGE_SIZE_MAX, limit - items.length)),
          cursor: next ?? undefined,
        };
        const { body }: Answer<Partial<PageOf<T>>> = await ask({ ...question, query });
        if (!Array.isArray(body.items)) throw describeStranger(200, address);
        items.push(...body.items);
        const follower: string | null = body.next ?? null;
        // A cursor that leads nowhere would be followed for ever.
        if (follower !== null && follower === next) throw describeStranger(200, address);
        next = follower;
      } while (next !== null && items.length < limit);
      return { items, next };
    },
  };
}

type Received = { readonly status: number; readonly text: string; readonly location: string };

async function send(
  address: AdminAddress,
  masterKey: MasterKey,
  question: Question,
  deadlineMs: number,
): Promise<Received> {
  try {
    const response = await fetch(toUrl(address, question), {
      method: question.method ?? "GET",
      headers: {
        Authorization: `Bearer ${masterKey.key}`,
        Accept: "application/json",
        ...(question.body && { "Content-Type": "application/json" }),
      },
      ...(question.body && { body: JSON.stringify(question.body) }),
      redirect: "manual",
      signal: AbortSignal.timeout(deadlineMs),
      // On a kept connection that breaks, the runtime would ask a second time by itself.
      keepalive: false,
      ...(await makeTransport(address)),
    });
    const text = await response.text();
    return { status: response.status, text, location: response.headers.get("location") ?? "" };
  } catch (error) {
    throw describeNoAnswer(error, address, question, deadlineMs);
  }
}

async function makeTransport(address: AdminAddress): Promise<BunFetchRequestInit> {
  const transport: Record<string, unknown> = {};
  // What is for this machine must not leave it by way of a proxy for the outside.
  if (address.isLoopback) transport.proxy = false;
  if (address.base.startsWith("https:")) {
    const tls: Record<string, unknown> = {};
    if (address.trusted.length > 0) {
      const { rootCertificates } = await import("node:tls");
      tls.ca = [...rootCertificates, ...address.trusted];
    }
    if (!address.checksName) tls.checkServerIdentity = () => undefined;
    transport.tls = tls;
  }
  return transport as BunFetchRequestInit;
}

function toUrl(address: AdminAddress, { path, query = {} }: Question): string {
  for (const segment of path) {
    // An empty or dotted segment would name another resource.
    if (!/^[\w-]+$/.test(segment)) failUsage(`"${escapeUnsafe(segment)}" is no id`);
  }
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const search = new URLSearchParams(given).toString();
  return `${address.base}/admin/${path.join("/")}${search && `?${search}`}`;
}

function describeRefusal(
  body: UncheckedErrorBody,
  code: number,
  question: Question,
  address: AdminAddress,
  masterKey: MasterKey,
): CommandFailed {
  const again = typeof body.retry_after === "number" ? `in ${body.retry_after} s` : "later";
  return new CommandFailed(sentence(), toExitCode(code));

  function sentence(): string {
    switch (code) {
      case ERRORS.invalidMasterKey.code:
      case ERRORS.missingToken.code:
        return `${address.base} does not accept the master key ${masterKey.source}: use the one it was started with (--master-key-file, GATEHOUSE_MASTER_KEY)`;
      case ERRORS.tooManyAttempts.code:
        return `too many wrong master keys came from this address: check the one ${masterKey.source} and try again ${again}`;
      case ERRORS.unavailable.code:
        return `Gatehouse cannot reach its store now: try again ${again}, and look at its log if that does not help`;
      case ERRORS.internal.code:
        return `Gatehouse failed: its log says why, under request ${escapeUnsafe(String(body.request_id ?? "?"))}`;
      case ERRORS.notFound.code:
        return (
          question.absent ?? `${address.base} knows nothing of the kind: is it a Gatehouse of this version?`
        );
      default:
        return describeRefused(body, code);
    }
  }
}

function describeRefused(body: UncheckedErrorBody, code: number): string {
  if (!isObject(body.details)) return `Gatehouse refused: ${escapeUnsafe(String(body.message))} (${code})`;
  const reasons = Object.entries(body.details).map(
    ([field, reason]) => `${escapeUnsafe(field)}: ${escapeUnsafe(String(reason))}`,
  );
  return `Gatehouse refused: ${reasons.join("; ")}`;
}

/** An answer that is not Gatehouse's: a proxy without its Gatehouse, or a wrong address. */
function describeStranger(status: number, address: AdminAddress): CommandFailed {
  if (status >= 502 && status <= 504) {
    return new CommandFailed(
      `what answers at ${address.base} cannot reach Gatehouse (${status}): is it running?`,
      EXIT_CODES.unavailable,
    );
  }
  return new CommandFailed(
    `${address.base} does not answer like Gatehouse (${status}): check the address (--url)`,
  );
}

function describeNoAnswer(
  error: unknown,
  address: AdminAddress,
  question: Question,
  deadlineMs: number,
): Error {
  if (error instanceof CommandFailed) return error;
  const reason = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return new CommandFailed(sentence(), EXIT_CODES.unavailable);

  function sentence(): string {
    if (error instanceof Error && error.name === "TimeoutError") {
      const doubt = question.method
        ? "; it may have been done all the same, so look before trying again"
        : "";
      return `${address.base} did not answer within ${deadlineMs / 1000} s${doubt}`;
    }
    if (code === "ECONNREFUSED") {
      return `nothing listens at ${address.base}: start it with gatehouse serve, or say where it is with --url`;
    }
    if (code === "ERR_TLS_CERT_ALTNAME_INVALID") {
      return `the certificate of ${address.base} is for another name: use that name in --url`;
    }
    if (/CERT|SIGNATURE|ISSUER/.test(code)) {
      return `the certificate of ${address.base} is not trusted (${escapeUnsafe(reason)}): name its authority, or itself, with --ca-file`;
    }
    if (code === "EPROTO") return `${address.base} does not speak TLS: is it an http:// address?`;
    return `${address.base} cannot be reached (${escapeUnsafe(reason)}): check the address (--url)`;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
