// Checks before the measurement that every contender gives the same answers: status, headers, and every byte of the body.
import { LIMIT_PER_WINDOW } from "../src/core/keys/rate-limit.ts";
import { CASES, type Case, READ_PATH } from "./cases.ts";
import type { Contender, Running } from "./contenders/contender.ts";
import type { Stage } from "./stage.ts";

export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
};

/** Headers that web servers add by themselves. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  "date",
  "server",
  "connection",
  "keep-alive",
  "content-length",
  "transfer-encoding",
]);
/** Headers that must be present, whatever their value is. */
const VARYING: ReadonlySet<string> = new Set(["age", "etag", "retry-after", "x-ratelimit-reset"]);

/** The answer to every case. Puts the `used up` token over its limit. */
export async function collectAnswers(
  urlOf: Running["urlOf"],
  tokens: Readonly<Record<Case["tokens"], string>>,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const benchCase of CASES) {
    const url = urlOf(benchCase);
    const token = tokens[benchCase.tokens];
    if (benchCase.tokens === "used up") await exhaust(url, token);
    // The first answer is a cache miss; the second one is compared.
    const first = await call(url, token);
    const etag = benchCase.hasEtag ? first.headers.etag : undefined;
    answers.push(benchCase.tokens === "used up" ? first : await call(url, token, etag));
  }
  return answers;
}

export function tokensForCheck(stage: Stage, invalidToken: string): Record<Case["tokens"], string> {
  return { valid: stage.tokens[0] ?? "", "used up": stage.tokens.at(-1) ?? "", invalid: invalidToken };
}

/** Throws with the first difference. */
export function compareAnswers(contender: Contender, theirs: readonly Answer[], ours: readonly Answer[]): void {
  for (const [index, benchCase] of CASES.entries()) {
    const [their, our] = [theirs[index], ours[index]];
    if (!their || !our) throw new Error(`no answer for ${benchCase.id}`);
    const difference = findDifference(benchCase, their, our);
    if (difference) throw new Error(`${contender.name}, ${benchCase.title}: ${difference}`);
  }
}

function findDifference(benchCase: Case, theirs: Answer, ours: Answer): string | undefined {
  if (theirs.status !== benchCase.status || ours.status !== benchCase.status)
    return `status ${theirs.status}, Gatehouse ${ours.status}, expected ${benchCase.status}`;
  if (plainBody(theirs) !== plainBody(ours))
    return `body\n  ${plainBody(theirs).slice(0, 300)}\nis not\n  ${plainBody(ours).slice(0, 300)}`;
  const [their, our] = [plainHeaders(benchCase, theirs), plainHeaders(benchCase, ours)];
  return their === our ? undefined : `headers\n${their}\nare not\n${our}`;
}

/** The body without times, which differ between two answers. */
function plainBody({ body }: Answer): string {
  return new TextDecoder().decode(body).replace(/"(retry_after|reset_at)":\d+/g, '"$1":0');
}

function plainHeaders({ status }: Case, { headers }: Answer): string {
  return (
    Object.entries(headers)
      // nginx sends no Content-Type without a body.
      .filter(([name]) => !OWN_HEADERS.has(name) && !(status === 304 && name === "content-type"))
      .map(([name, value]) => `  ${name}: ${VARYING.has(name) ? "…" : value}`)
      .sort()
      .join("\n")
  );
}

/** Every request up to the limit must be admitted, and its answer must say how many are left. */
async function exhaust(url: string, token: string): Promise<void> {
  for (let used = 1; used <= LIMIT_PER_WINDOW; used++) {
    const { status, headers } = await call(url, token);
    const left = Number(headers["x-ratelimit-remaining"]);
    if (status !== 200 || left !== LIMIT_PER_WINDOW - used)
      throw new Error(`${url}${READ_PATH}: request ${used} got ${status} with ${left} left`);
  }
}

export async function call(url: string, token: string, etag?: string): Promise<Answer> {
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

/** The answers for the floor, without the headers that its runtime adds. */
export function toFloorFile(answers: readonly Answer[]): string {
  return JSON.stringify(
    answers.map(({ status, headers, body }) => ({
      status,
      headers: Object.entries(headers).filter(([name]) => !OWN_HEADERS.has(name)),
      body: Buffer.from(body).toString("base64"),
    })),
  );
}
