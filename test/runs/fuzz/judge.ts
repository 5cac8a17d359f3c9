// Judges answers by the documents: the OpenAPI document, docs/facade.md, and the refusals that hold for every path.
import { ERRORS } from "../../../src/core/errors.ts";
import type { ReadAnswer } from "../../journeys/openapi-witness.ts";
import type { FuzzedRequest } from "./fuzzed-request.ts";
import { type FuzzedOperation, OperationFinder, type Witness } from "./operations.ts";

import { SECRET_MARK } from "./world.ts";

/** A token, a façade key, a session, an invitation, or the secret of a webhook. */
const SECRETS = /gth_[0-9A-Za-z]{36}|gth[0-9A-Za-z]{36}-|gts_[0-9A-Za-z]{20}\.|gt[di]_[0-9A-Za-z]{30}|whsec_/;
/** These answer with a secret, once. */
const GIVES_SECRETS: ReadonlySet<string> = new Set([
  "createKey",
  "rotateKey",
  "invitePerson",
  "redeemInvitation",
  "grantToken",
  "createWebhook",
  "rotateWebhook",
  // Its examples look like secrets.
  "tellOpenApi",
]);
/** The runtime's own answer, without a body, to what is no HTTP request. */
const RUNTIME_REFUSALS: ReadonlySet<number> = new Set([400, 413, 414, 431, 505]);
const FACADE_CODES: Readonly<Record<number, readonly number[]>> = {
  400: [3001],
  403: [2000, 2001, 2002, 4000, 4002, 4003, 9998, 9999],
  404: [3001],
  422: [1001, 3002],
  429: [4001],
};
const PAGE_STATUSES: ReadonlySet<number> = new Set([200, 304, 404, 429, 503]);
/** Level 50 is an error, 60 is fatal; traces have lines of their own. */
const FAULT_LINE = /"level":[56]0|^\s+at |panic|(?:Type|Range|Reference)Error/;
const JUDGED_MAX = 5_000;

export class Judge {
  readonly #witness: Witness;
  readonly #finder: OperationFinder;
  /** Hashes of bodies that were judged before: many repeat, and judging them again finds nothing new. */
  readonly #judged = new Set<number | bigint>();

  constructor(witness: Witness, operations: readonly FuzzedOperation[]) {
    this.#witness = witness;
    this.#finder = new OperationFinder(operations);
  }

  /** Everything that is wrong with the answer. */
  findFaults(request: FuzzedRequest, answer: ReadAnswer): string[] {
    return [...this.#findLeaks(request, answer), ...this.#findShapeFaults(request, answer)];
  }

  /** Of bytes that need not be a request: refused by the runtime or by us, but never a fault of ours. */
  findRawFaults({ status, headers, body }: ReadAnswer): string[] {
    if (hasSecret(body)) return ["a secret in the answer"];
    if (body === "" && (RUNTIME_REFUSALS.has(status) || status < 400)) return [];
    if (status < 400) return [];
    const code = readCode(body);
    if (status >= 500 && code !== ERRORS.obsolete.code) return [`status ${status}: ${body.slice(0, 200)}`];
    const isEmpty = headers.get("content-length") === "0" || body === "";
    return isEmpty || code !== undefined ? [] : [`no error body: ${body.slice(0, 200)}`];
  }

  #findLeaks(request: FuzzedRequest, { body, headers, status }: ReadAnswer): string[] {
    const operation = this.#findOperation(request);
    const name = operation?.id ?? request.target.slice(0, 100);
    if (body.includes(SECRET_MARK)) return [`${name}: a server key or the master key in the answer`];
    const mayGive = operation !== undefined && GIVES_SECRETS.has(operation.id) && status < 300;
    if (mayGive) return [];
    const cookie = headers.get("set-cookie") ?? "";
    return SECRETS.test(body) || SECRETS.test(cookie) ? [`${name}: a secret in the answer`] : [];
  }

  /** The one that answers, which need not be the one that was meant. */
  #findOperation(request: FuzzedRequest): FuzzedOperation | undefined {
    if (!request.isAstray) return request.operation;
    const method = request.method === "HEAD" ? "GET" : request.method;
    return this.#findByPath(request).find((one) => one.method === method);
  }

  #findShapeFaults(request: FuzzedRequest, answer: ReadAnswer): string[] {
    const isHead = request.method === "HEAD";
    const operation = this.#findOperation(request);
    const isGeneral = request.isAstray || operation === undefined;
    if (isGeneral && isGeneralRefusal(request, answer, isHead)) return [];
    if (operation) {
      const faults = this.#judgeBy(operation, answer, isHead);
      if (faults.length === 0) return [];
      return faults.map((fault) => `${operation.id} answers ${answer.status}: ${fault}`);
    }
    const { status, body } = answer;
    if (body === "" && RUNTIME_REFUSALS.has(status)) return [];
    return [`${request.method} ${request.target.slice(0, 100)} answers ${status}: ${body.slice(0, 200)}`];
  }

  #judgeBy({ kind, id }: FuzzedOperation, answer: ReadAnswer, isHead: boolean): string[] {
    if (kind === "facade") return findFacadeFaults(answer, isHead);
    if (kind === "page") return findPageFaults(answer);
    const { status, headers, body } = answer;
    const hash = Bun.hash(`${id} ${status} ${headers.get("content-type")} ${body}`);
    const faults = this.#witness.judge(id, answer, isHead || this.#judged.has(hash));
    if (this.#judged.size >= JUDGED_MAX) this.#judged.clear();
    if (faults.length === 0 && !isHead) this.#judged.add(hash);
    return faults;
  }

  #findByPath({ target }: FuzzedRequest): FuzzedOperation[] {
    const [path = ""] = target.split(/[?#]/, 1);
    return this.#finder.find(normalize(path));
  }
}

/** Unknown paths, wrong methods and version 1 are answered alike everywhere. */
function isGeneralRefusal({ method, target }: FuzzedRequest, answer: ReadAnswer, isHead: boolean): boolean {
  const { status, headers, body } = answer;
  if (headers.get("x-content-type-options") !== "nosniff") return false;
  const code = isHead ? undefined : readCode(body);
  const is = (row: { readonly status: number; readonly code: number }) =>
    status === row.status && (isHead || code === row.code);
  if (is(ERRORS.methodNotAllowed)) return !(headers.get("allow") ?? method).split(", ").includes(method);
  if (is(ERRORS.obsolete)) return isObsoleteTarget(target);
  return is(ERRORS.notFound);
}

/** Whether it is of version 1, however that is written. */
export function isObsoleteTarget(target: string): boolean {
  return /^\/+(?:v|%76)(?:1|%31)(?:[/?#]|$)/i.test(target);
}

function findFacadeFaults({ status, headers, body }: ReadAnswer, isHead: boolean): string[] {
  const faults = headers.get("x-content-type-options") === "nosniff" ? [] : ["no nosniff"];
  if (headers.get("content-type") !== "application/json" && status !== 304) faults.push("not JSON");
  if (isHead || status === 304) return faults;
  const value = parse(body);
  if (value === undefined) return [...faults, `not JSON: ${body.slice(0, 200)}`];
  if (status === 200) return faults;
  const { code, message } = Object(value) as { code?: unknown; message?: unknown };
  const isKnown = FACADE_CODES[status]?.includes(Number(code)) && typeof message === "string";
  return isKnown ? faults : [...faults, `not in docs/facade.md: ${body.slice(0, 200)}`];
}

function findPageFaults({ status, headers, body }: ReadAnswer): string[] {
  const faults = headers.get("x-content-type-options") === "nosniff" ? [] : ["no nosniff"];
  if (!PAGE_STATUSES.has(status)) faults.push(`not a status of a page: ${body.slice(0, 200)}`);
  return faults;
}

/** A change that was refused because a busy machine had not made the one before it: a documented 503. */
const TOO_BUSY = "the change before this one took too long";

/** Lines of the log that tell of a fault, and secrets in it. */
export function findLogFaults(log: string): string[] {
  const lines = log.split("\n").filter((line) => FAULT_LINE.test(line) && !line.includes(TOO_BUSY));
  const faults = lines.map((line) => `in the log: ${line.slice(0, 300)}`);
  return hasSecret(log) ? [...faults, "a secret in the log"] : faults;
}

function hasSecret(text: string): boolean {
  return text.includes(SECRET_MARK) || SECRETS.test(text);
}

/** The code of an error body of the one shape; undefined for any other text. */
export function readCode(body: string): number | undefined {
  const value = parse(body);
  const { code, message } = Object(value) as { code?: unknown; message?: unknown };
  return typeof code === "number" && typeof message === "string" ? code : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** As the runtime and the router see the path; the path itself when they see none. */
function normalize(path: string): string {
  try {
    const segments = new URL(`http://x${path}`).pathname.split("/");
    // An escaped slash is part of its segment.
    return segments.map((segment) => decodeURIComponent(segment).replaceAll("/", "_")).join("/");
  } catch {
    return path;
  }
}
