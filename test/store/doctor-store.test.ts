// What the doctor says about the PostgreSQL of the store and the Redis beside it, and that it follows the notes there.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { identifyUpstream, PAUSE, REFUSED_GLOBAL_KEY, writeNote } from "../../src/core/readings/upstream-notes.ts";
import { Sealer } from "../../src/database/sealer.ts";
import { readCallNotes } from "../../src/doctor/call-notes.ts";
import {
  inspectPostgres,
  judgePostgres,
  judgeStoreContents,
  readStoreContents,
} from "../../src/doctor/check-postgres.ts";
import { inspectRedis, judgeRedis } from "../../src/doctor/check-redis.ts";
import { parseConfig } from "../../src/instance/config.ts";

import { parseRedisAddress } from "../../src/shared/parse-address.ts";
import { openTestPostgres } from "../open-store.ts";
import { type PostgresServer, startPostgres, stopPostgresServers } from "../postgres-server.ts";
import { startRedis, stopRedisServers } from "../redis-server.ts";

const SECRET = "the secret of this store";
const UPSTREAM = {
  GATEHOUSE_UPSTREAM_URL: "https://api.example.org",
  GATEHOUSE_UPSTREAM_GLOBAL_KEY: "global",
};
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => {
  await stopPostgresServers();
  await stopRedisServers();
});

describe("the store in PostgreSQL", () => {
  async function check(url: string, secret = SECRET) {
    const read = (sql: Bun.SQL) => readStoreContents(sql, new Sealer(secret));
    const { facts, found } = await inspectPostgres(url, "store", read);
    return [...judgePostgres(facts, "store"), ...(found ? judgeStoreContents(found) : [])];
  }

  test("is judged with its contents, and fails with another secret", async () => {
    const url = await server.createDatabase();
    expect((await check(url)).map(({ result }) => result)).toEqual(["warning"]);
    const store = await openTestPostgres({ url, secret: SECRET });
    await store.servers.create({ name: "Town", community: null, serverKey: "a-b" }, 0);
    await store.close();
    const findings = await check(url);
    expect(findings.map(({ result }) => result)).toEqual(["ok", "ok"]);
    expect(findings[1]?.finding).toContain("servers: 1, keys: 0");
    expect((await check(url, "another secret")).map(({ result }) => result)).toEqual(["ok", "failure"]);
  });

  test("that is away is told with what goes on meanwhile", async () => {
    const [finding] = await check("postgres://gatehouse:s3cr3t@127.0.0.1:1/x");
    expect(finding).toMatchObject({ result: "failure" });
    expect(JSON.stringify(finding)).toContain("database_away");
    expect(JSON.stringify(finding)).not.toContain("s3cr3t");
  });

  test("tells the doctor of pauses and refused keys, as it tells instances", async () => {
    const url = await server.createDatabase();
    const config = parseConfig({ GATEHOUSE_STORE: url, ...UPSTREAM });
    expect(await readCallNotes(config)).toEqual({ pauseMs: 0, refusedKeys: [], globalKeyFailure: null });
    const store = await openTestPostgres({ url, secret: SECRET });
    const identity = identifyUpstream(UPSTREAM.GATEHOUSE_UPSTREAM_URL, "global");
    const failure = { code: 2003, message: "refused", isRateLimit: false };
    const pause = { pausedUntil: Date.now() + 60_000, pauseMs: 60_000, isPauseNamed: true };
    await store.settings.amend(PAUSE, () => writeNote(identity, pause));
    await store.settings.amend(REFUSED_GLOBAL_KEY, () => writeNote(identity, failure));
    await store.close();
    const notes = await readCallNotes(config);
    expect(notes.pauseMs).toBeWithin(50_000, 60_001);
    expect(notes.globalKeyFailure).toEqual(failure);
  });
});

describe("the Redis beside it", () => {
  const check = async (url: string) => {
    const address = parseRedisAddress(url);
    if (!address) throw new Error("no address");
    return judgeRedis(await inspectRedis(address));
  };

  test("that answers and can be written is well, however little durable it is", async () => {
    const redis = await startRedis(["--appendonly", "no", "--save", ""]);
    expect(await check(redis.url)).toMatchObject([{ result: "ok" }]);
  });

  test("that is away or full is told with what goes on meanwhile", async () => {
    const away = await check("redis://:s3cr3t@127.0.0.1:1");
    const full = await startRedis(["--maxmemory", "1", "--maxmemory-policy", "noeviction"]);
    for (const findings of [away, await check(full.url)]) {
      expect(findings).toMatchObject([{ result: "failure" }]);
      expect(JSON.stringify(findings)).toContain("redis_away");
      expect(JSON.stringify(findings)).not.toContain("s3cr3t");
    }
  });
});
