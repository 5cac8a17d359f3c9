// Before anybody is measured: does it answer the same, to the byte, with the same headers, and refuse where it is due?
import { LIMIT_PER_WINDOW } from "../src/core/rate-limit.ts";
import { CASES, type Case, READ_PATH } from "./cases.ts";
import type { Contender, Running } from "./contenders/contender.ts";
import type { Stage } from "./stage.ts";

export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
};

/** What a web server adds by itself, and nobody can take away everywhere. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  "date",
  "server",
  "connection",
  "keep-alive",
  "content-length",
  "transfer-encoding",
]);
/** Headers that must be there, with a value of each one's own. */
const VARYING: ReadonlySet<string> = new Set(["age", "etag", "retry-after", "x-ratelimit-reset"]);

/** The answer to every case. Uses up the token that is given for refusals. */
export async function collectAnswers(
  urlOf: Running["urlOf"],
  tokens: Readonly<Record<Case["tokens"], string>>,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const asked of CASES) {
    const url = urlOf(asked);
    const token = tokens[asked.tokens];
    if (asked.tokens === "used up") await exhaust(url, token);
    // The first answer is a cache miss; the second is the one that counts.
    const first = await ask(url, token);
    const etag = asked.hasEtag ? first.headers.etag : undefined;
    answers.push(asked.tokens === "used up" ? first : await ask(url, token, etag));
  }
  return answers;
}

export function tokensForCheck(stage: Stage, invalidToken: string): Record<Case["tokens"], string> {
  return { valid: stage.tokens[0] ?? "", "used up": stage.tokens.at(-1) ?? "", invalid: invalidToken };
}

/** Throws with the first difference. */
export function compareAnswers(
  contender: Contender,
  theirs: readonly Answer[],
  ours: readonly Answer[],
): void {
  for (const [index, asked] of CASES.entries()) {
    const [their, our] = [theirs[index], ours[index]];
    if (!their || !our) throw new Error(`no answer for ${asked.id}`);
    const difference = findDifference(asked, their, our);
    if (difference) throw new Error(`${contender.name}, ${asked.title}: ${difference}`);
  }
}

function findDifference(asked: Case, theirs: Answer, ours: Answer): string | undefined {
  if (theirs.status !== asked.status || ours.status !== asked.status)
    return `status ${theirs.status}, Gatehouse ${ours.status}, due ${asked.status}`;
  if (plainBody(theirs) !== plainBody(ours))
    return `body\n  ${plainBody(theirs).slice(0, 300)}\nis not\n  ${plainBody(ours).slice(0, 300)}`;
  const [their, our] = [plainHeaders(asked, theirs), plainHeaders(asked, ours)];
  return their === our ? undefined : `headers\n${their}\nare not\n${our}`;
}

/** Without the times that pass between two answers. */
function plainBody({ body }: Answer): string {
  return new TextDecoder().decode(body).replace(/"(retry_after|reset_at)":\d+/g, '"$1":0');
}

function plainHeaders({ status }: Case, { headers }: Answer): string {
  return (
    Object.entries(headers)
      // nginx leaves the type out where there is no body.
      .filter(([name]) => !OWN_HEADERS.has(name) && !(status === 304 && name === "content-type"))
      .map(([name, value]) => `  ${name}: ${VARYING.has(name) ? "…" : value}`)
      .sort()
      .join("\n")
  );
}

/** Every request up to the limit must be let in, and be told how many are left. */
async function exhaust(url: string, token: string): Promise<void> {
  for (let used = 1; used <= LIMIT_PER_WINDOW; used++) {
    const { status, headers } = await ask(url, token);
    const left = Number(headers["x-ratelimit-remaining"]);
    if (status !== 200 || left !== LIMIT_PER_WINDOW - used)
      throw new Error(`${url}${READ_PATH}: request ${used} got ${status} with ${left} left`);
  }
}

export async function ask(url: string, token: string, etag?: string): Promise<Answer> {
  const headers = {
    Authorization: `Bearer ${token}`,
    "Accept-Encoding": "identity",
    ...(etag !== undefined && { "If-None-Match": etag }),
  };
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(5_000) });
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: new Uint8Array(await response.arrayBuffer()),
  };
}

/** For the floor: without what its runtime adds anyway. */
export function toFloorFile(answers: readonly Answer[]): string {
  return JSON.stringify(
    answers.map(({ status, headers, body }) => ({
      status,
      headers: Object.entries(headers).filter(([name]) => !OWN_HEADERS.has(name)),
      body: Buffer.from(body).toString("base64"),
    })),
  );
}
