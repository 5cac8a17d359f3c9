// A guard against losing speed: counts, not times, so that a slow machine cannot fail it. The real program's own request
// handler is called a thousand times in one synchronous run, with everything expensive wrapped and counted.

import { heapStats } from "bun:jsc";
import { Database, type Statement } from "bun:sqlite";
import { afterAll, beforeAll, beforeEach, expect, spyOn, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { LIMIT_PER_WINDOW, WINDOW_MS } from "../../src/core/rate-limit.ts";
import { SECTIONS } from "../../src/core/sections.ts";
import { mintToken } from "../../src/core/token.ts";
import type { Connection } from "../../src/http/call.ts";
import type { RequestHandler } from "../../src/http/listen.ts";
import { ALL_SECTIONS_INFO, BASE_INFO, type FakeGameApi, startFakeGameApi } from "../fake-game-api.ts";
import { startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";

const READS = 1_000;
const KEYS = 10;
const EVERYTHING = `/v2/game/server?${SECTIONS.map((name) => `${name}=true`).join("&")}`;

const NOTHING = { parsed: 0, serialised: 0, hashed: 0, encoded: 0, packed: 0, statements: 0, calls: 0 };
const CONNECTION: Connection = { requestIP: () => ({ address: "127.0.0.1", port: 1 }), timeout() {} };

let api: FakeGameApi;
let gatehouse: TestGatehouse;
let edge: RequestHandler;
let tokens: string[];
let statementsRun = 0;
const openQuery = Database.prototype.query;

beforeAll(async () => {
  Database.prototype.query = countingQuery;
  api = startFakeGameApi(() => Response.json({ ...BASE_INFO, ...ALL_SECTIONS_INFO }));
  const serve = spyOn(Bun, "serve");
  const env = { GATEHOUSE_UPSTREAM_URL: api.url, GATEHOUSE_FRESH_MS: String(1_000 * WINDOW_MS) };
  gatehouse = await startGatehouse({ env });
  const served = serve.mock.calls[0]?.[0] as { fetch?: RequestHandler } | undefined;
  serve.mockRestore();
  if (!served?.fetch) throw new Error("Gatehouse was not served by Bun.serve with one handler");
  edge = served.fetch;
});
afterAll(async () => {
  Database.prototype.query = openQuery;
  await gatehouse.stop();
  await api.stop();
});
beforeEach(async () => {
  const server = await gatehouse.addServer();
  const keys = await Promise.all(Array.from({ length: KEYS }, () => gatehouse.addKey(server)));
  tokens = keys.map(({ token }) => token);
  // The first request of each key hashes its token, and the first of all asks the game API.
  for (const request of makeRequests(KEYS, EVERYTHING))
    expect((await edge(request, CONNECTION)).status).toBe(200);
});

const watched = new WeakSet<Statement>();

/** Statements have methods of their own, so each is wrapped when it is made, also those that are kept for later. */
function countingQuery(this: Database, sql: string): never {
  const statement = openQuery.call(this, sql);
  for (const method of watched.has(statement) ? [] : (["run", "get", "all", "values", "iterate"] as const)) {
    const act = statement[method] as (...args: unknown[]) => unknown;
    const counted = (...args: unknown[]) => {
      statementsRun++;
      return act.apply(statement, args);
    };
    Object.defineProperty(statement, method, { value: counted });
  }
  watched.add(statement);
  return statement as never;
}

function makeRequests(count: number, path: string, headers: Record<string, string> = {}): Request[] {
  return Array.from({ length: count }, (_, i) => {
    const Authorization = `Bearer ${tokens[i % tokens.length]}`;
    return new Request(gatehouse.url + path, { headers: { Authorization, ...headers } });
  });
}

/** Answers all of them in one synchronous run: nothing on the way may wait for anything. */
function answerAll(requests: readonly Request[], status: number): Response[] {
  const answers = requests.map((request) => edge(request, CONNECTION));
  return answers.map((answer) => {
    if (answer instanceof Promise) throw new Error("an answer had to be waited for");
    expect(answer.status).toBe(status);
    return answer;
  });
}

/** What happens while `act` runs, and only then. */
function count(act: () => void): typeof NOTHING {
  const { crc32 } = Bun.hash;
  const spies = {
    parsed: [spyOn(JSON, "parse")],
    serialised: [spyOn(JSON, "stringify")],
    hashed: [spyOn(Bun.SHA256, "hash"), spyOn(Bun, "hash")],
    encoded: [spyOn(TextEncoder.prototype, "encode")],
    packed: [spyOn(Bun, "gzipSync")],
  };
  // The wrapped function has lost the checksum of tokens, which is cheap and not counted.
  Object.assign(Bun.hash, { crc32 });
  const [callsBefore, statementsBefore] = [api.calls.length, statementsRun];
  try {
    act();
    const counts = Object.entries(spies).map(([name, ofName]) => {
      return [name, ofName.reduce((sum, spy) => sum + spy.mock.calls.length, 0)];
    });
    return {
      ...NOTHING,
      ...Object.fromEntries(counts),
      statements: statementsRun - statementsBefore,
      calls: api.calls.length - callsBefore,
    };
  } finally {
    for (const spy of Object.values(spies).flat()) spy.mockRestore();
  }
}

test("the guard sees what it counts", async () => {
  const statement = new Database(":memory:").query("SELECT 1");
  const seen = count(() => {
    JSON.parse(JSON.stringify([Bun.SHA256.hash("x", "base64"), String(Bun.hash("x"))]));
    Bun.gzipSync(new TextEncoder().encode("x"));
    statement.get();
  });
  expect(seen).toEqual({
    parsed: 1,
    serialised: 1,
    hashed: 2,
    encoded: 1,
    packed: 1,
    statements: 1,
    calls: 0,
  });
});

test("a thousand cached reads wait for nothing, parse, serialise and hash nothing, and touch neither disk nor game API", () => {
  const requests = makeRequests(READS, EVERYTHING);
  expect(count(() => answerAll(requests, 200))).toEqual(NOTHING);
});

test("a thousand answers of 304 cost no more", () => {
  const [first] = answerAll(makeRequests(1, EVERYTHING), 200);
  const etag = first?.headers.get("etag") ?? "";
  const requests = makeRequests(READS, EVERYTHING, { "If-None-Match": etag });
  expect(count(() => answerAll(requests, 304))).toEqual(NOTHING);
});

test("a compressed body is packed once for a snapshot", () => {
  const requests = makeRequests(READS, EVERYTHING, { "Accept-Encoding": "gzip" });
  expect(count(() => answerAll(requests, 200))).toEqual({ ...NOTHING, packed: 1 });
});

test("sections are serialised once for a snapshot: another choice of them only puts text together", () => {
  const requests = SECTIONS.flatMap((name) => makeRequests(KEYS, `/v2/game/server?${name}=true`));
  // One body, with its tag, for each of the nine choices.
  expect(count(() => answerAll(requests, 200))).toEqual({ ...NOTHING, hashed: 9, encoded: 9 });
});

test("a refusal for the limit serialises its own body and does nothing else", () => {
  answerAll(makeRequests(KEYS * (LIMIT_PER_WINDOW - 1), EVERYTHING), 200);
  const requests = makeRequests(READS, EVERYTHING);
  expect(count(() => answerAll(requests, 429))).toEqual({ ...NOTHING, serialised: READS });
});

test("an invented token costs one hash and at most one lookup, a misspelt one neither", () => {
  tokens = Array.from({ length: READS + 1 }, () => mintToken(randomBytes));
  const [logged, ...rest] = makeRequests(READS + 1, EVERYTHING);
  // One in ten seconds is logged.
  if (logged) answerAll([logged], 401);
  const { statements, ...others } = count(() => answerAll(rest, 401));
  expect(statements).toBeLessThanOrEqual(READS);
  expect({ ...others, statements: 0 }).toEqual({ ...NOTHING, hashed: READS });
  tokens = tokens.map((token) => `${token.slice(0, -1)}${token.endsWith("0") ? "1" : "0"}`);
  const misspelt = makeRequests(READS, EVERYTHING);
  expect(count(() => answerAll(misspelt, 401))).toEqual(NOTHING);
});

test("version 1 is refused without looking at anything", () => {
  const requests = makeRequests(READS, "/v1/server");
  expect(count(() => answerAll(requests, 500))).toEqual(NOTHING);
});

test("a thousand cached reads leave no objects behind", () => {
  const readAll = () => {
    gatehouse.clock.advance(WINDOW_MS);
    answerAll(makeRequests(READS, EVERYTHING), 200);
  };
  // Twice before, so that what is made once, such as compiled code, is there.
  readAll();
  readAll();
  const before = countObjects();
  readAll();
  expect(countObjects() - before).toBeLessThan(READS / 2);
});

/** Those that are alive: garbage is collected first. */
function countObjects(): number {
  Bun.gc(true);
  return Object.values(heapStats().objectTypeCounts).reduce((sum, count) => sum + count, 0);
}
