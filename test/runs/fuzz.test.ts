// The fuzz run in short, and its judge: an answer outside the documents, a leak and a fault in the log are found.
import { afterEach, describe, expect, test } from "bun:test";
import { buildDocument } from "../../src/http/openapi/document.ts";
import { type Handlers, listRoutes } from "../../src/http/routes.ts";
import { createWitness } from "../journeys/openapi-witness.ts";
import { cleanUp } from "../temporary.ts";
import type { FuzzedRequest } from "./fuzz/fuzzed-request.ts";
import { findLogFaults, Judge } from "./fuzz/judge.ts";
import { listOperations } from "./fuzz/operations.ts";
import { runFuzz } from "./fuzz/run-fuzz.ts";
import { SECRET_MARK } from "./fuzz/world.ts";

afterEach(cleanUp);

test("fuzzed requests over all routes get only documented answers, and every operation succeeds once", async () => {
  const tools = { seed: 24, stopped: new AbortController().signal, progress: () => {} };
  const { figures, problems } = await runFuzz(2_500, tools);
  expect(problems).toEqual([]);
  // A 503 says that a change took too long, which a busy machine may cause. 501: passkeys do not work at 127.0.0.1.
  expect(figures.answers5xx).toBe(Number(figures.answers503) + Number(figures.answers501));
  expect(figures.requests).toBeGreaterThanOrEqual(2_500);
  expect(figures.answers2xx).toBeGreaterThan(Number(figures.requests) / 3);
});

describe("the judge", () => {
  /** Handlers are not called here, so any value will do. */
  const nothing: unknown = new Proxy(() => nothing, { get: () => nothing });
  const routes = listRoutes(new Proxy({}, { get: () => nothing }) as unknown as Handlers);
  const document = JSON.parse(JSON.stringify(buildDocument(routes, "1"))) as Record<string, unknown>;
  const operations = listOperations(document);
  const judge = new Judge(createWitness(document), operations);
  const HEADERS = {
    "content-type": "application/json",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  };

  function judgeAnswer(
    target: string,
    status: number,
    body: object,
    isAstray = false,
    method = "GET",
    more: Readonly<Record<string, string>> = {},
  ): string[] {
    const operation = operations.find((one) => one.template === target && one.method === method);
    const request: FuzzedRequest = {
      operation,
      method,
      target,
      headers: [],
      body: undefined,
      isAstray,
      key: undefined,
    };
    const headers = new Map(Object.entries({ ...HEADERS, ...more }));
    return judge.findFaults(request, { status, headers, body: JSON.stringify(body) });
  }

  test("takes what is documented", () => {
    expect(judgeAnswer("/healthz", 200, { status: "ok" })).toEqual([]);
    expect(judgeAnswer("/nowhere", 404, { code: 5020, message: "not_found" }, true)).toEqual([]);
    expect(judgeAnswer("/v2/server", 403, { code: 2000, message: "no key" })).toEqual([]);
  });

  test.each([
    ["an undocumented status", "/healthz", 418, {}],
    ["an undocumented body", "/healthz", 200, { status: "ok", more: 1 }],
    ["a fault of our own", "/v2/server", 500, { code: 1002, message: "x" }],
    ["an unknown code of the façade", "/v2/server", 403, { code: 5007, message: "x" }],
    ["a server key", "/healthz", 200, { status: SECRET_MARK }],
    ["a token", "/healthz", 200, { status: `gth_${"a".repeat(36)}` }],
  ])("finds %s", (_, target, status, body) => {
    expect(judgeAnswer(target, status, body)).not.toEqual([]);
  });

  test("finds a wrong header of an answer whose body was seen before", () => {
    const judgeHealth = (sniffing: string) =>
      judgeAnswer("/healthz", 200, { status: "ok" }, false, "GET", { "x-content-type-options": sniffing });
    expect(judgeHealth("nosniff")).toEqual([]);
    expect(judgeHealth("sniff")).not.toEqual([]);
  });

  test("finds an answer to a path that nobody documents", () => {
    expect(judgeAnswer("/nowhere", 200, {}, true)).not.toEqual([]);
    expect(judgeAnswer("/nowhere", 500, { code: 5017, message: "internal_error" }, true)).not.toEqual([]);
  });

  test("finds errors and secrets in the log", () => {
    expect(findLogFaults('{"level":30,"msg":"started"}\n{"level":40,"msg":"a wrong key"}\n')).toEqual([]);
    expect(findLogFaults('{"level":50,"msg":"unexpected failure"}\n')).toHaveLength(1);
    const busy = '{"level":50,"err":{"message":"the change before this one took too long"}}';
    expect(findLogFaults(busy)).toEqual([]);
    expect(findLogFaults("    at answer (edge.ts:1:1)\n")).toHaveLength(1);
    expect(findLogFaults(`{"level":30,"key":"${SECRET_MARK}"}\n`)).toEqual(["a secret in the log"]);
  });
});
