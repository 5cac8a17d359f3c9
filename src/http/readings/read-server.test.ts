// A cached reading is sent without serialising, hashing or compressing it again. The tests overwrite the cached bytes: an
// answer that has the overwritten bytes with the old ETag comes from the cache.
import { describe, expect, test } from "bun:test";
import { type ApiKey, DEFAULT_RIGHTS } from "../../core/keys/api-key.ts";
import { SECTIONS, toSectionSet } from "../../core/sections.ts";
import type { Authenticator } from "../../gateway/keys/authenticate.ts";
import { NO_HOUR } from "../../gateway/keys/counted-key.ts";
import { Snapshot } from "../../gateway/readings/snapshot.ts";
import { Call, type Connection } from "../call.ts";
import { Target } from "../requests/target.ts";
import { UnsentAnswers } from "../sending/unsent-answers.ts";
import { CallerSteps, READING } from "../steps/caller-steps.ts";
import { ReadServerHandler } from "./read-server.ts";

const NOW = 1_800_000_000_000;
const PLAYERS = toSectionSet(["Players"]);
const CONNECTION: Connection = { requestIP: () => null, timeout() {} };
const SERVER = {
  ...{ serverId: "srv_1", name: "Town", community: null },
  ...{ createdAt: 0, keyRevision: 1, isSimulated: false, isWatched: true, publicStatus: null, ownersSignIn: false },
};
const { ipAllow: _, ...rights } = DEFAULT_RIGHTS;
const KEY: ApiKey = {
  keyId: "key_1",
  serverId: "srv_1",
  label: "bot",
  grant: { ...rights, may: 0, allowedFrom: null, isSuspended: false },
  expiresAt: null,
  person: null,
};
/** Not JSON, so that parsing it would fail; long enough to be compressed. */
const PARTS = { base: `{not JSON ${"at all ".repeat(300)}`, sections: SECTIONS.map((name) => `<${name}>`), misfits: 0 };

function setUp() {
  const snapshot = new Snapshot(PARTS, NOW);
  const relay = { read: () => ({ snapshot, isHit: true }), longestWaitMs: 0 };
  const recheck = () => Promise.reject(new Error("a cached reading needs no second check"));
  const readServer = new ReadServerHandler(relay, { recheck }, () => NOW, new UnsentAnswers());
  return {
    snapshot,
    read(headers: Record<string, string> = {}): Response {
      const request = new Request("http://127.0.0.1/v2/game/server?Players=true", { headers });
      const target = new Target(undefined, "/v2/game/server", "Players=true");
      const call = new Call(request, target, CONNECTION, () => NOW);
      const answer = readServer.answer(call, { key: KEY, server: SERVER, report: null });
      if (answer instanceof Promise) throw new Error("a cached reading had to be waited for");
      return answer;
    },
  };
}

describe("a cached reading", () => {
  test("is sent unchanged, without being parsed", async () => {
    const { read } = setUp();
    expect(await read().text()).toBe(`${PARTS.base},"Players":<Players>}`);
  });

  test("is neither serialised nor hashed again", async () => {
    const { read, snapshot } = setUp();
    const { bytes, etag } = snapshot.body(PLAYERS);
    bytes.fill(0x78);
    for (const response of [read(), read()]) {
      expect(response.headers.get("etag")).toBe(etag);
      expect(await response.text()).toMatch(/^x+$/);
    }
    expect(read({ "If-None-Match": etag }).status).toBe(304);
  });

  test("is copied once for all of its answers", async () => {
    const { read, snapshot } = setUp();
    const first = await read().text();
    snapshot.body(PLAYERS).bytes.fill(0x78);
    expect(await read().text()).toBe(first);
  });

  test("is compressed only once", async () => {
    const { read, snapshot } = setUp();
    const first = await read({ "Accept-Encoding": "gzip" }).arrayBuffer();
    snapshot.body(PLAYERS).bytes.fill(0x78);
    const second = read({ "Accept-Encoding": "gzip" });
    expect(second.headers.get("content-encoding")).toBe("gzip");
    expect(Buffer.from(await second.bytes()).equals(Buffer.from(first))).toBe(true);
    expect(new TextDecoder().decode(Bun.gunzipSync(first))).toBe(`${PARTS.base},"Players":<Players>}`);
  });
});

test("who waited for the key, and then for the limit, is judged and answered by the time of then", async () => {
  let now = NOW;
  const seen: number[] = [];
  const wait = async <T>(result: T): Promise<T> => {
    await Promise.resolve();
    now += 300;
    return result;
  };
  const key = { ...KEY, lastUsedAt: 0, fine: 0, refusals: undefined, hour: NO_HOUR, limitHandle: undefined };
  const state = { resetAt: NOW + 60_000, count: 1, blockedUntil: 0 };
  const steps = new CallerSteps({
    authenticator: { authenticate: () => wait(key) } as unknown as Authenticator,
    limits: {
      judge(_, at) {
        seen.push(at);
        return wait({ outcome: "admitted", now: at, blockChanged: false, state });
      },
    },
    servers: { find: () => SERVER },
    findAddress: () => "",
  });
  const target = new Target(undefined, "/v2/game/server", "");
  const call = new Call(new Request("http://127.0.0.1/v2/game/server"), target, CONNECTION, () => now);
  await steps.authenticate(call, READING, () => {
    seen.push(call.now);
    return new Response();
  });
  expect(seen).toEqual([NOW + 300, NOW + 600]);
});
