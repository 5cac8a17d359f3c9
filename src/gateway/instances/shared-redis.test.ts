// Which Redis an instance may start with, and that the running ones stay recognisable.
import { expect, test } from "bun:test";
import { StartRefused, StoreUnavailable } from "../../core/errors.ts";
import { RedisIdKeeper, type Registered } from "./shared-redis.ts";

function startRedis(id?: string) {
  const redis = {
    id,
    isAway: false,
    async findId() {
      if (redis.isAway) throw new StoreUnavailable("away");
      return redis.id;
    },
    async saveId(saved: string) {
      if (redis.isAway) throw new StoreUnavailable("away");
      redis.id = saved;
    },
  };
  return redis;
}

const alone = { redisId: "ours", isOldest: true, isUp: true };
const second = { redisId: "ours", isOldest: false, isUp: true };
const dontSleep = async () => {};
const keepId = (redis: ReturnType<typeof startRedis>, registered: Registered, sleep = dontSleep) =>
  new RedisIdKeeper(redis, registered, sleep).keep();

test("the first instance takes any Redis, also one that others have used before", async () => {
  const redis = startRedis("of another Gatehouse");
  await keepId(redis, alone);
  expect(redis.id).toBe("ours");
});

test("the next one starts with the same Redis, and with one that was just emptied", async () => {
  await keepId(startRedis("ours"), second);
  const emptied = startRedis();
  await keepId(emptied, second, () => keepId(emptied, alone));
});

test("one that starts beside others that were killed takes an emptied Redis once they count as dead", async () => {
  const redis = startRedis();
  const registered = { ...second };
  await keepId(redis, registered, async () => {
    registered.isOldest = true;
  });
  expect(redis.id).toBe("ours");
});

test.each([undefined, "of another Gatehouse"])("another Redis is refused: %p", async (id) => {
  const redis = startRedis(id);
  await expect(keepId(redis, second)).rejects.toThrow(StartRefused);
  await expect(keepId(redis, second)).rejects.toThrow(/GATEHOUSE_REDIS/);
  expect(redis.id).toBe(id);
});

test("a Redis that is away keeps nobody from starting", async () => {
  const redis = startRedis();
  redis.isAway = true;
  await keepId(redis, second);
  await keepId(redis, alone);
});

test.each([undefined, "of another Gatehouse"])(
  "another Redis that was away at the start is refused when it comes, and its id stays: %p",
  async (id) => {
    const redis = startRedis(id);
    redis.isAway = true;
    const keeper = new RedisIdKeeper(redis, second, dontSleep);
    await keeper.keep();
    redis.isAway = false;
    await expect(keeper.keep()).rejects.toThrow(StartRefused);
    expect(redis.id).toBe(id);
  },
);

test("while the database is away nobody is ended for a Redis that nobody else can put the id into", async () => {
  const redis = startRedis();
  const registered = { ...second, isUp: false };
  const keeper = new RedisIdKeeper(redis, registered, dontSleep);
  await keeper.keep();
  registered.isUp = true;
  await expect(keeper.keep()).rejects.toThrow(StartRefused);
});

test("the id is put back into the shared Redis, also when that was away at the start", async () => {
  const redis = startRedis("ours");
  redis.isAway = true;
  const keeper = new RedisIdKeeper(redis, second, dontSleep);
  await keeper.keep();
  redis.isAway = false;
  await keeper.keep();
  redis.id = undefined;
  await keeper.keep();
  expect<string | undefined>(redis.id).toBe("ours");
});
