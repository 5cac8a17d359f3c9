// While Redis is away every answer comes in time, reads are served from the cache with a share of the limit, and commands
// and changes are refused. Soon after its return everything works again, and nothing that was refused happens later.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { mintToken } from "../../src/core/token.ts";
import { until } from "../process/run-gatehouse.ts";
import { type RedisServer, startRedis } from "../redis-server.ts";
import { listCommands } from "./command-clients.ts";
import { FaultProxy } from "./fault-proxy.ts";
import {
  type Answer,
  endFleets,
  expectStatus,
  type Fleet,
  type Home,
  type Key,
  startFleet,
  timeUntil,
} from "./fleet.ts";

const ANSWER_WITHIN_MS = 1_500;
const BACK_WITHIN_MS = 2_000;
const INSTANCES = 4;
const SHARE = Math.floor(120 / INSTANCES);

let redis: RedisServer;
let proxies: FaultProxy[];
let fleet: Fleet;

beforeAll(async () => {
  redis = await startRedis();
  proxies = await Promise.all(Array.from({ length: INSTANCES }, () => FaultProxy.start(redis.port)));
  // So slow that nothing is sent during a test: then accepted commands can be counted.
  const env = { GATEHOUSE_COMMAND_INTERVAL_MS: "600000" };
  fleet = await startFleet({ stores: proxies.map(({ url }) => url), count: INSTANCES, env });
});
afterAll(endFleets);

/** A failed test must not affect the next one. */
afterEach(async () => {
  setProxies({ kind: "pass" });
  for (const instance of fleet.instances) {
    const isBack = async () => (await instance.admin("GET", "/blocks")).status === 200;
    const restart = async () => {
      console.log(`${instance.url} did not come back and is started anew`);
      await instance.kill();
      await instance.start();
    };
    await until("Redis is not back", isBack, 3_000).catch(restart);
  }
  // The share of the limit depends on the number of instances.
  for (const instance of fleet.instances)
    await until("not all are seen", async () => (await instance.countInstances()) === INSTANCES);
});

function setProxies(mode: FaultProxy["mode"]): void {
  for (const proxy of proxies) proxy.set(mode);
}

function expectUnavailable({ status, body, headers, ms }: Answer): void {
  expect([status, body.code]).toEqual([503, 5106]);
  expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  expect(ms).toBeLessThan(ANSWER_WITHIN_MS);
}

/** Reads on all instances at once, one request after the other on each. Returns how many each has admitted. */
async function readInTurns(key: Key, count: number): Promise<number[]> {
  return Promise.all(
    fleet.instances.map(async (instance) => {
      let admitted = 0;
      for (let turn = 0; turn < count; turn++) {
        const { status, body, ms } = await instance.read(key);
        expect(ms).toBeLessThan(ANSWER_WITHIN_MS);
        if (status === 200) admitted++;
        else expect([status, body.code]).toEqual([429, 5016]);
      }
      return admitted;
    }),
  );
}

/** All instances accept commands and share one limit again. */
async function expectBack(key: Key, fresh: Key): Promise<void> {
  const beganAt = performance.now();
  await Promise.all(
    fleet.instances.map((instance, index) =>
      until(
        `instance ${index} does not accept commands again`,
        async () => (await instance.submit(key, ":h back", `back-${index}`)).status === 202,
        BACK_WITHIN_MS,
      ),
    ),
  );
  console.log(`back after ${Math.round(performance.now() - beganAt)} ms`);
  const left: number[] = [];
  for (const instance of fleet.instances) {
    left.push(Number(expectAdmitted(await instance.read(fresh)).headers.get("x-ratelimit-remaining")));
  }
  expect(left.map((number) => (left[0] ?? 0) - number)).toEqual([0, 1, 2, 3]);
  const isReady = async () => (await fleet.at(1).ask("GET", "/readyz", fresh.token)).status === 200;
  await until("it does not call itself ready", isReady, BACK_WITHIN_MS);
}

function expectAdmitted(answer: Answer): Answer {
  expectStatus(answer, 200);
  return answer;
}

type Way = readonly [
  title: string,
  goAway: () => unknown,
  comeBack: () => unknown,
  /** Whether Redis cannot be read either. */
  isSilent: boolean,
];

const ways: Way[] = [
  ["killed", () => redis.kill(), () => redis.start(), true],
  ["frozen", () => redis.freeze(), () => redis.thaw(), true],
  [
    "loading its data",
    () => setProxies({ kind: "refuse", error: "LOADING Redis is loading the dataset in memory" }),
    () => setProxies({ kind: "pass" }),
    true,
  ],
  [
    "a replica, that takes no writes",
    () => redis.ask("REPLICAOF", "127.0.0.1", 1),
    () => redis.ask("REPLICAOF", "NO", "ONE"),
    false,
  ],
  [
    "out of memory",
    () => redis.ask("CONFIG", "SET", "maxmemory", "1"),
    () => redis.ask("CONFIG", "SET", "maxmemory", "0"),
    false,
  ],
  [
    "lost behind connections that have died unnoticed",
    () => setProxies({ kind: "swallow" }),
    () => setProxies({ kind: "pass" }),
    true,
  ],
];

describe("while Redis is", () => {
  for (const [title, goAway, comeBack, isSilent] of ways) {
    test(`${title}: reads go on with a share of the limit, the rest is 5106, and all is well soon after`, async () => {
      const home = await fleet.addServer();
      const key = await fleet.addKey(home);
      const fresh = await fleet.addKey(home);
      await goAway();
      try {
        const first = await Promise.all([
          readInTurns(key, SHARE + 10),
          ...fleet.instances.map(async (instance) => expectUnavailable(await instance.submit(key, ":h no"))),
          ...fleet.instances.map(async (instance) => {
            const wish = { server_id: home.serverId, label: "refused" };
            expectUnavailable(await instance.admin("POST", "/keys", wish));
          }),
        ]);
        expect(first[0]).toEqual([SHARE, SHARE, SHARE, SHARE]);
        // The instance knows of the outage by now, so that it answers at once.
        for (const instance of fleet.instances) {
          expectUnavailable(await instance.admin("PATCH", `/keys/${fresh.keyId}`, { suspended: true }));
          expectUnavailable(await instance.admin("DELETE", `/keys/${fresh.keyId}`));
          expectUnavailable(await instance.submit(key, ":h no"));
          await until("it still calls itself ready", async () => {
            return (await instance.ask("GET", "/readyz", key.token)).status === 503;
          });
          expect((await instance.ask("GET", "/healthz", key.token)).status).toBe(200);
          if (isSilent) expectUnavailable(await instance.admin("GET", "/servers"));
        }
        const later = await readInTurns(key, 3);
        expect(later).toEqual([0, 0, 0, 0]);
      } finally {
        await comeBack();
      }
      await expectBack(key, fresh);
      // Refused changes were not made.
      const texts = (await listCommands(fleet.at(0), home)).map(({ command }) => command);
      expect(texts).toEqual(Array<string>(INSTANCES).fill(":h back"));
      const { items } = expectStatus(await fleet.at(0).admin("GET", `/keys?server_id=${home.serverId}`), 200);
      expect(items.map((item: { label: string }) => item.label)).toEqual(["bot", "bot"]);
      expect(items.every((item: { suspended: boolean }) => !item.suspended)).toBe(true);
    });
  }

  test("without its scripts, callers notice nothing", async () => {
    const home = await fleet.addServer();
    const key = await fleet.addKey(home);
    expectStatus(await fleet.at(0).read(key), 200);
    await redis.ask("SCRIPT", "FLUSH");
    const left: (string | null)[] = [];
    for (const instance of fleet.instances) {
      left.push(expectAdmitted(await instance.read(key)).headers.get("x-ratelimit-remaining"));
    }
    expect(left).toEqual(["118", "117", "116", "115"]);
    await redis.ask("SCRIPT", "FLUSH");
    expectStatus(await fleet.at(2).submit(key, ":h still here"), 202);
  });
});

test("however long the connection was dead, everything works two seconds after its return", async () => {
  // At different moments of the reconnection.
  const times = await Promise.all(
    proxies.map(async (proxy, index) => {
      proxy.set({ kind: "swallow" });
      await Bun.sleep(2_000 + index * 750);
      proxy.set({ kind: "pass" });
      const isBack = async () => (await fleet.at(index).admin("GET", "/blocks")).status === 200;
      return Math.round(await timeUntil("Redis is not back", 8_000, isBack));
    }),
  );
  console.log(`back after ${times.join(", ")} ms`);
  expect(Math.max(...times)).toBeLessThan(BACK_WITHIN_MS);
});

test("after a failover behind one address, the old primary is left for the new one", async () => {
  const [older, newer] = [await startRedis(), await startRedis()];
  await newer.ask("REPLICAOF", "127.0.0.1", older.port);
  const line = await FaultProxy.start(older.port);
  const alone = await startFleet({ stores: [line.url], count: 1 });
  const home = await alone.addServer();
  const isCopied = async () => (await newer.ask("DBSIZE")) === (await older.ask("DBSIZE"));
  await until("the replica has not caught up", isCopied);
  await newer.ask("REPLICAOF", "NO", "ONE");
  line.redisPort = newer.port;
  // It keeps running with its connections open, but refuses writes.
  await older.ask("REPLICAOF", "127.0.0.1", newer.port);
  const isBack = async () => {
    const draft = { server_id: home.serverId, label: "after" };
    return (await alone.at(0).admin("POST", "/keys", draft)).status === 201;
  };
  await timeUntil("nothing can be written", BACK_WITHIN_MS, isBack);
});

test("without Redis, a token that is not known here is 5106, for it may be a new one; a broken one is 5008", async () => {
  const [instance, proxy] = [fleet.at(0), proxies[0]];
  proxy?.set({ kind: "closed" });
  const readUnknown = () => instance.read({ token: mintToken(randomBytes) });
  await until(
    "a new token is taken for a wrong one",
    async () => (await readUnknown()).status === 503,
    2_000,
  );
  expectUnavailable(await readUnknown());
  expect((await instance.read({ token: "gth_broken" })).body.code).toBe(5008);
  proxy?.set({ kind: "pass" });
  await until("Redis is not back", async () => (await instance.admin("GET", "/blocks")).status === 200);
  expect((await readUnknown()).body.code).toBe(5008);
});

test("a spam block holds on every instance while Redis is away", async () => {
  const home = await fleet.addServer();
  const key = await fleet.addKey(home);
  const reads = Array.from({ length: 540 }, (_, index) => fleet.at(index % INSTANCES).read(key));
  await Promise.all(reads);
  for (const instance of fleet.instances) expect((await instance.read(key)).body.code).toBe(5100);
  setProxies({ kind: "closed" });
  for (const instance of fleet.instances) {
    const { body, ms } = await instance.read(key);
    expect(body.code).toBe(5100);
    expect(ms).toBeLessThan(ANSWER_WITHIN_MS);
  }
  setProxies({ kind: "pass" });
  await until("Redis is not back", async () => (await fleet.at(0).admin("GET", "/blocks")).status === 200);
});

test("a spam block that began while Redis was away goes on when it is back, on every instance", async () => {
  const home = await fleet.addServer();
  const key = await fleet.addKey(home);
  setProxies({ kind: "closed" });
  // The share of the limit, and 400 beyond the limit.
  const reads = Array.from({ length: SHARE + 400 }, () => fleet.at(0).read(key));
  await Promise.all(reads);
  const { body: blocked } = await fleet.at(0).read(key);
  expect(blocked.code).toBe(5100);
  setProxies({ kind: "pass" });
  const isListed = async () => {
    const { body } = await fleet.at(1).admin("GET", "/blocks");
    return JSON.stringify(body).includes(key.keyId);
  };
  await until("the others are not told", isListed);
  for (const instance of fleet.instances.toReversed()) {
    const { body } = await instance.read(key);
    expect([body.code, body.blocked_until]).toEqual([5100, blocked.blocked_until]);
  }
});

test("a Redis that comes and goes does not give callers a new share each time", async () => {
  const home = await fleet.addServer();
  const key = await fleet.addKey(home);
  const instance = fleet.at(0);
  const [proxy] = proxies;
  let admitted = 0;
  for (let outage = 0; outage < 4; outage++) {
    proxy?.set({ kind: "closed" });
    for (let turn = 0; turn < SHARE + 15; turn++) {
      if ((await instance.read(key)).status === 200) admitted++;
    }
    proxy?.set({ kind: "pass" });
    await until("Redis is not back", async () => (await instance.admin("GET", "/blocks")).status === 200);
    // One request that Redis judges.
    await instance.read(key);
  }
  expect(admitted).toBeLessThanOrEqual(SHARE);
});

describe("a submission that Redis has accepted, but whose answer was lost on the way", () => {
  type Lost = {
    readonly text: string;
    readonly idempotencyKey?: string;
    readonly meanwhile?: () => Promise<void>;
  };

  /** Submits through the proxy, which drops the connection together with the reply and then passes again. */
  async function loseAnswer(key: Key, { text, idempotencyKey, meanwhile }: Lost): Promise<void> {
    const [proxy] = proxies;
    if (!proxy) throw new Error("there is no line");
    let isLost = false;
    proxy.watchReply = (piece) => {
      if (!piece.includes("accepted")) return;
      isLost = true;
      proxy.set({ kind: "closed" });
    };
    try {
      expectUnavailable(await fleet.at(0).submit(key, text, idempotencyKey));
      expect(isLost).toBe(true);
      await meanwhile?.();
    } finally {
      proxy.watchReply = () => {};
      proxy.set({ kind: "pass" });
    }
    await until("Redis is not back", async () => (await fleet.at(0).admin("GET", "/blocks")).status === 200);
  }

  /** At the pace of these instances, the commands after it wait for minutes. */
  async function sendFirst(home: Home): Promise<Key> {
    const key = await fleet.addKey(home);
    expectStatus(await fleet.at(0).submit(key, ":h first"), 202);
    await until("the first is not sent", async () => {
      return (await listCommands(fleet.at(1), home)).every(({ status }) => status === "sent");
    });
    return key;
  }

  async function listTexts(home: Home): Promise<string[]> {
    return (await listCommands(fleet.at(1), home)).map(({ command }) => command);
  }

  test("is refused, and does not happen later", async () => {
    const home = await fleet.addServer();
    const key = await sendFirst(home);
    await loseAnswer(key, { text: ":h lost" });
    await loseAnswer(key, { text: ":h lost too", idempotencyKey: "a-key" });
    await until("what was refused waits", async () => (await listTexts(home)).length === 1);
    // The idempotency key can be used again.
    expectStatus(await fleet.at(1).submit(key, ":h another", "a-key"), 202);
    expect(await listTexts(home)).toEqual([":h first", ":h another"]);
  });

  test("is accepted once when it is repeated with its Idempotency-Key before it is withdrawn", async () => {
    const home = await fleet.addServer();
    const key = await sendFirst(home);
    const meanwhile = async () => {
      expectStatus(await fleet.at(1).submit(key, ":h once", "a-key"), 202);
    };
    await loseAnswer(key, { text: ":h once", idempotencyKey: "a-key", meanwhile });
    // The next lost command is withdrawn, so the instance has tried to withdraw this one too.
    await loseAnswer(key, { text: ":h lost" });
    await until("what was refused waits", async () => !(await listTexts(home)).includes(":h lost"));
    expect(await listTexts(home)).toEqual([":h first", ":h once"]);
  });
});

describe("a submission whose fate is decided at the last moment", () => {
  /** Every answer must be true: an accepted change was made, a refused one was not. */
  async function expectTruthful(home: Home, key: Key, pending: Promise<Answer>[], texts: string[]) {
    const answers = await Promise.all(pending);
    await until("Redis is not back", async () => {
      const answers = await Promise.all(fleet.instances.map((one) => one.admin("GET", "/blocks")));
      return answers.every(({ status }) => status === 200);
    });
    // Scripts that were under way have run by now.
    expectStatus(await fleet.at(0).ask("GET", `/v2/game/server/command`, key.token), 200);
    const kept = new Set((await listCommands(fleet.at(1), home)).map(({ command }) => command));
    const outcomes = answers.map(({ status }) => status);
    for (const [index, { ms }] of answers.entries()) {
      expect(ms).toBeLessThan(ANSWER_WITHIN_MS);
      const text = texts[index] ?? "";
      expect({ text, status: outcomes[index], isKept: kept.has(text) }).toEqual({
        text,
        status: kept.has(text) ? 202 : 503,
        isKept: kept.has(text),
      });
    }
    return outcomes;
  }

  test("is refused and never happens, or is accepted and happens, whenever a frozen Redis thaws", async () => {
    const home = await fleet.addServer();
    const key = await fleet.addKey(home);
    const seen: number[] = [];
    for (const frozenMs of [380, 430, 500, 560, 630]) {
      const texts = Array.from({ length: 8 }, (_, index) => `:h ${frozenMs} ${index}`);
      redis.freeze();
      const pending = texts.map((text, index) => fleet.at(index % INSTANCES).submit(key, text));
      await Bun.sleep(frozenMs);
      redis.thaw();
      seen.push(...(await expectTruthful(home, key, pending, texts)));
    }
    console.log(`${seen.filter((status) => status === 202).length} of ${seen.length} were accepted`);
  });

  test("a change is not made late either, when requests take long to Redis and replies do not", async () => {
    const home = await fleet.addServer();
    const key = await fleet.addKey(home);
    const [proxy] = proxies;
    if (!proxy) throw new Error("there is no proxy");
    // Requests take longer than replies, so that half of the round trip is a bad estimate: Redis's clock seems to be ahead.
    proxy.set({ kind: "slow", ms: 350 });
    await Bun.sleep(1_800);
    // A change begins with two reads of the key; the connection fails right after them.
    let readings = 0;
    const held = Promise.withResolvers<void>();
    proxy.watchReply = (piece) => {
      if (!piece.includes(key.keyId) || ++readings < 2) return;
      proxy.set({ kind: "hold" });
      held.resolve();
    };
    const changing = fleet.at(0).admin("PATCH", `/keys/${key.keyId}`, { suspended: true });
    await held.promise;
    proxy.watchReply = () => {};
    await Bun.sleep(1_150);
    proxy.set({ kind: "pass" });
    const { status } = await changing;
    const isBack = async () => (await fleet.at(0).admin("GET", "/blocks")).status === 200;
    await until("Redis is not back", isBack);
    const { suspended } = expectStatus(await fleet.at(1).admin("GET", `/keys/${key.keyId}`), 200);
    expect({ status, suspended }).toEqual({ status, suspended: status === 200 });
  });
});
