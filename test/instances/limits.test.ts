// One limit for all instances: count, reset and spam block are the same whichever instance a caller uses.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { RawAnswer } from "../raw-socket.ts";
import { askAllAtOnce, writeRead } from "./crowd.ts";
import {
  type Backing,
  endFleets,
  expectStatus,
  type Fleet,
  MASTER_KEY,
  SECRET,
  startBacking,
  startFleet,
} from "./fleet.ts";

let backing: Backing;
let fleet: Fleet;

beforeAll(async () => {
  const { addresses, ...rest } = await startBacking();
  backing = rest;
  fleet = await startFleet(addresses);
});
afterAll(endFleets);

type LimitBody = { code: number; blocked_until: number; details: { count: number; reset_at: number } };

async function askMany(token: string, count: number) {
  const ports = fleet.instances.map(({ port }) => port);
  const answers = await askAllAtOnce(ports, Array<string>(count).fill(writeRead(token)));
  const bodies = answers.map((answer) => ({ answer, body: JSON.parse(answer.body) as LimitBody }));
  return {
    admitted: bodies.filter(({ answer }) => answer.status === 200).map(({ answer }) => answer),
    limited: bodies.filter(({ body }) => body.code === 5016),
    blocked: bodies.filter(({ body }) => body.code === 5100),
  };
}

function countBy(answers: readonly RawAnswer[], name: string): string[] {
  return [...new Set(answers.map(({ headers }) => headers.get(name) ?? "none"))];
}

function countUp(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

test("2,000 parallel requests with one key: 120 admitted, refused counts without gap or repeat, one reset_at, then the block everywhere", async () => {
  const key = await fleet.addKey(await fleet.addServer());
  const beganAt = Date.now();
  const { admitted, limited, blocked } = await askMany(key.token, 2_000);
  console.log(`2,000 requests took ${Date.now() - beganAt} ms`);

  expect(admitted.length).toBe(120);
  const left = admitted.map(({ headers }) => Number(headers.get("x-ratelimit-remaining")));
  expect(left.sort((a, b) => a - b)).toEqual(countUp(0, 119));
  const counts = limited.map(({ body }) => body.details.count).sort((a, b) => a - b);
  expect(counts).toEqual(countUp(121, 519));
  expect(new Set(limited.map(({ body }) => body.details.reset_at)).size).toBe(1);
  const [first] = limited;
  const resetSeconds = String(Math.ceil((first?.body.details.reset_at ?? 0) / 1000));
  expect(countBy([...admitted, ...limited.map(({ answer }) => answer)], "x-ratelimit-reset")).toEqual([resetSeconds]);

  // Request 520 begins the block; within it, the 121st of a window adds one minute, once.
  expect(blocked.length).toBe(2_000 - 519);
  const ends = [...new Set(blocked.map(({ body }) => body.blocked_until))].sort((a, b) => a - b);
  expect(ends.length).toBe(2);
  expect((ends[1] ?? 0) - (ends[0] ?? 0)).toBe(60_000);
  expect(ends[0]).toBeGreaterThan(beganAt + 299_000);

  for (const instance of fleet.instances) {
    expect((await instance.read(key)).body).toMatchObject({ code: 5100, blocked_until: ends[1] });
    expect((await instance.submit(key, ":h hello")).body.code).toBe(5100);
    const { items } = expectStatus(await instance.admin("GET", "/blocks"), 200);
    expect(items).toMatchObject([{ key_id: key.keyId, blocked_until: ends[1] }]);
  }
});

test("a block that is lifted on one instance is over on all, with a fresh window", async () => {
  const key = await fleet.addKey(await fleet.addServer());
  const { blocked } = await askMany(key.token, 521);
  expect(blocked.length).toBe(2);
  expectStatus(await fleet.at(2).admin("DELETE", `/blocks/${key.keyId}`), 204);
  const left: string[] = [];
  for (const instance of fleet.instances) {
    const answer = await instance.read(key);
    expect(answer.status).toBe(200);
    left.push(answer.headers.get("x-ratelimit-remaining") ?? "");
  }
  expect(left).toEqual(["119", "118", "117", "116"]);
});

test("an abuser on every instance costs another key nothing", async () => {
  const home = await fleet.addServer();
  const [abuser, other] = [await fleet.addKey(home), await fleet.addKey(home)];
  const flood = askMany(abuser.token, 1_000);
  const statuses: number[] = [];
  for (let turn = 0; turn < 40; turn++) statuses.push((await fleet.at(turn % 4).read(other)).status);
  await flood;
  expect(new Set(statuses)).toEqual(new Set([200]));
});

test("a block outlives every instance and the Redis", async () => {
  const key = await fleet.addKey(await fleet.addServer());
  const { blocked } = await askMany(key.token, 525);
  const endsAt = Math.max(...blocked.map(({ body }) => body.blocked_until));
  await Promise.all(fleet.instances.map((instance) => instance.kill()));
  await backing.redis.ask("FLUSHALL");
  await Promise.all(fleet.instances.map((instance) => instance.start()));
  for (const instance of fleet.instances) {
    expect((await instance.read(key)).body).toMatchObject({ code: 5100, blocked_until: endsAt });
  }
});

test("whoever steals the files of PostgreSQL or Redis finds no token, no server key and no secret in them", async () => {
  const home = await fleet.addServer();
  const key = await fleet.addKey(home);
  expectStatus(await fleet.at(0).read(key), 200);
  expectStatus(await fleet.at(1).submit(key, ":h a text to be found"), 202);
  await backing.redis.ask("SAVE");
  await backing.postgres.ask("CHECKPOINT");
  const read = (folder: string) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile())
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name), "latin1"));
  const stolen = [...read(backing.postgres.folder), ...read(backing.redis.folder)];
  // The files do hold what was written.
  expect(stolen.some((text) => text.includes("a text to be found"))).toBe(true);
  expect(stolen.some((text) => text.includes(home.serverId))).toBe(true);
  for (const secret of [key.token, `fleet-${home.town}`, MASTER_KEY, SECRET])
    expect(stolen.filter((text) => text.includes(secret))).toEqual([]);
});
