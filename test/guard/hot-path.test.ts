// A cached read uses memory only. The store is closed, its folder deleted and the game API stopped, so any request that needs
// them fails. Events are recorded, as by default. The tests measure results and counts, not times, so a slow machine cannot fail them.
import { heapStats } from "bun:jsc";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { LIMIT_PER_WINDOW, WINDOW_MS } from "../../src/core/keys/rate-limit.ts";
import { HIDES_JOIN_KEY, HIDES_LOCATION } from "../../src/core/keys/rights.ts";
import { hashToken, mintToken } from "../../src/core/keys/token.ts";
import type { LedgerRecord } from "../../src/core/ports/archive.ts";
import { SECTIONS } from "../../src/core/sections.ts";
import type { Connection } from "../../src/http/call.ts";
import { MemoryArchive } from "../event-archive.ts";
import { ALL_SECTIONS_INFO, BASE_INFO, type FakeGameApi, startFakeGameApi } from "../fake-game-api.ts";
import { startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";
import { until } from "../until.ts";

const READS = 1_000;
const KEYS = 10;
const EVERYTHING = `/v2/game/server?${SECTIONS.map((name) => `${name}=true`).join("&")}`;
const CONNECTION: Connection = { requestIP: () => ({ address: "127.0.0.1", port: 1 }), timeout() {} };
/** Numbers that JSON.parse and JSON.stringify would change. */
const ODD_NUMBERS = '"OwnerId":12345678901234567890,"CoOwnerIds":[1e2,9007199254740993]';

/** Counts its uses. */
class CountedArchive extends MemoryArchive {
  uses = 0;
  override load(serverId: string) {
    this.uses++;
    return super.load(serverId);
  }
  override findRecorded(serverId: string, identities: readonly string[]) {
    this.uses++;
    return super.findRecorded(serverId, identities);
  }
  override record(records: readonly LedgerRecord[]) {
    this.uses++;
    return super.record(records);
  }
}

let api: FakeGameApi;
let archive: CountedArchive;
let gatehouse: TestGatehouse;
let serverId: string;
let tokens: string[];
/** The token of an unused key. */
let newToken: string;
/** Keys from which something is hidden. */
let hidingTokens: string[];

beforeEach(async () => {
  api = startFakeGameApi(() => {
    const text = JSON.stringify({ ...BASE_INFO, ...ALL_SECTIONS_INFO });
    return new Response(text.replace('"OwnerId":123,"CoOwnerIds":[123]', ODD_NUMBERS));
  });
  const env = { GATEHOUSE_UPSTREAM_URL: api.url, GATEHOUSE_FRESH_MS: String(1_000 * WINDOW_MS) };
  archive = new CountedArchive();
  gatehouse = await startGatehouse({ env, archive });
  const server = await gatehouse.addServer();
  serverId = server.serverId;
  const keys = await Promise.all(Array.from({ length: KEYS + 1 }, () => gatehouse.addKey(server)));
  [newToken = "", ...tokens] = keys.map(({ token }) => token);
  const hide = HIDES_JOIN_KEY | HIDES_LOCATION;
  const hiding = await Promise.all(Array.from({ length: KEYS }, () => gatehouse.addKey(server, { hide })));
  hidingTokens = hiding.map(({ token }) => token);
  // The first request of each key reads the store, and the very first one calls the game API.
  for (const request of [
    ...makeRequests(KEYS, EVERYTHING),
    ...hidingTokens.map((each) => makeRequest(EVERYTHING, each)),
  ]) {
    expect((await gatehouse.app.answer(request, CONNECTION)).status).toBe(200);
  }
  expect(api.calls).toHaveLength(1);
});
afterEach(async () => {
  await gatehouse.stop();
  await api.stop();
});

/** From here on only memory is left. */
async function takeAllElseAway(): Promise<void> {
  await gatehouse.app.store.close();
  rmSync(gatehouse.folder, { recursive: true });
  await api.stop();
}

function makeRequests(count: number, path: string, headers: Record<string, string> = {}): Request[] {
  return Array.from({ length: count }, (_, i) => makeRequest(path, tokens[i % tokens.length] ?? "", headers));
}

function makeRequest(path: string, token: string, headers: Record<string, string> = {}): Request {
  return new Request(gatehouse.url + path, { headers: { Authorization: `Bearer ${token}`, ...headers } });
}

/** Answers all requests synchronously; an asynchronous answer fails the test. */
function answerAll(requests: readonly Request[]): Response[] {
  return requests.map((request) => {
    const answer = gatehouse.app.answer(request, CONNECTION);
    if (answer instanceof Promise) throw new Error("an answer had to be waited for");
    return answer;
  });
}

function expectAll(answers: readonly Response[], status: number): void {
  expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([status]));
}

describe("with nothing left but memory", () => {
  beforeEach(takeAllElseAway);

  test("a request that needs the store fails, so this test can detect any use of the store", () => {
    expectAll(answerAll([makeRequest(EVERYTHING, newToken)]), 503);
  });

  test("a thousand cached reads are answered at once, each with the bytes that the game API sent", async () => {
    const answers = answerAll(makeRequests(READS, EVERYTHING));
    expectAll(answers, 200);
    const bodies = await Promise.all(answers.map((answer) => answer.text()));
    expect(new Set(bodies).size).toBe(1);
    expect(bodies[0]).toContain(ODD_NUMBERS);
    expect(api.calls).toHaveLength(1);
  });

  test("so are those from which something is hidden: it was taken out once, and all of them share one body", async () => {
    tokens = hidingTokens;
    const answers = answerAll(makeRequests(READS, EVERYTHING));
    expectAll(answers, 200);
    const bodies = await Promise.all(answers.map((answer) => answer.text()));
    expect(new Set(bodies).size).toBe(1);
    expect(bodies[0]).toContain(ODD_NUMBERS);
    expect(bodies[0]).toContain('"JoinKey":""');
    const etag = answers[0]?.headers.get("etag") ?? "";
    tokens = hidingTokens.slice(0, 1);
    expectAll(answerAll(makeRequests(1, EVERYTHING, { "If-None-Match": etag })), 304);
  });

  test("a thousand reads with a matching ETag are answered at once", () => {
    const [first] = answerAll(makeRequests(1, EVERYTHING));
    const etag = first?.headers.get("etag") ?? "";
    expectAll(answerAll(makeRequests(READS, EVERYTHING, { "If-None-Match": etag })), 304);
  });

  test("a thousand compressed reads are answered at once", async () => {
    const answers = answerAll(makeRequests(READS, EVERYTHING, { "Accept-Encoding": "gzip" }));
    expectAll(answers, 200);
    const packed = new Set(answers.map((answer) => answer.headers.get("content-encoding")));
    expect(packed).toEqual(new Set(["gzip"]));
    const bodies = await Promise.all(answers.map(async (answer) => Buffer.from(await answer.bytes()).toString("hex")));
    expect(new Set(bodies).size).toBe(1);
  });

  test("any other set of sections is assembled from the same reading", async () => {
    for (const name of SECTIONS) {
      const answers = answerAll(makeRequests(KEYS, `/v2/game/server?${name}=true`));
      expectAll(answers, 200);
      for (const answer of answers) expect(await answer.text()).toContain(`"${name}":`);
    }
  });

  test("a thousand reads are refused because of the limit", () => {
    expectAll(answerAll(makeRequests(KEYS * (LIMIT_PER_WINDOW - 1), EVERYTHING)), 200);
    expectAll(answerAll(makeRequests(READS, EVERYTHING)), 429);
  });

  test("version 1 is refused without using the store", () => {
    expectAll(answerAll(makeRequests(READS, "/v1/server")), 500);
  });
});

test("a thousand unknown tokens are refused at once: one looks into an index, and nothing is waited for", () => {
  tokens = Array.from({ length: READS }, () => mintToken(randomBytes));
  expectAll(answerAll(makeRequests(READS, EVERYTHING)), 401);
});

test("a misspelt token is not looked up, not even one that would be found", async () => {
  const token = mintToken(randomBytes);
  const misspelt = `${token.slice(0, -1)}${token.endsWith("0") ? "1" : "0"}`;
  const server = await gatehouse.addServer();
  const { keyId } = await gatehouse.addKey(server);
  await gatehouse.app.store.keys.rotate(keyId, hashToken(misspelt), 0, gatehouse.clock.now);
  expectAll(answerAll([makeRequest(EVERYTHING, misspelt)]), 401);
  // The correct token of the same key is found, so the refusal was about the misspelling only.
  await gatehouse.app.store.keys.rotate(keyId, hashToken(token), 0, gatehouse.clock.now);
  expect((await gatehouse.app.answer(makeRequest(EVERYTHING, token), CONNECTION)).status).toBe(200);
});

test("a thousand cached reads record nothing more than the one reading that they share", async () => {
  await until("the reading is not recorded", async () => (await archive.findLast([serverId])).size > 0);
  const { uses } = archive;
  expectAll(answerAll(makeRequests(READS, EVERYTHING)), 200);
  // Records whatever still waits.
  await gatehouse.stop();
  expect(archive.uses).toBe(uses);
});

test("a thousand cached reads leave no objects behind", () => {
  const readAll = () => {
    gatehouse.clock.advance(WINDOW_MS);
    expectAll(answerAll(makeRequests(READS, EVERYTHING)), 200);
  };
  // Run twice before, so that everything that is created once, such as compiled code, exists.
  readAll();
  readAll();
  const before = countObjects();
  readAll();
  expect(countObjects() - before).toBeLessThan(READS / 2);
});

/** The number of live objects, after a garbage collection. */
function countObjects(): number {
  Bun.gc(true);
  return Object.values(heapStats().objectTypeCounts).reduce((sum, count) => sum + count, 0);
}
