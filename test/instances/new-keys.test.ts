// A key that one instance has created works at once on every other, and invented tokens cost the database next to nothing.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { mintToken } from "../../src/core/keys/token.ts";
import type { PostgresServer } from "../postgres-server.ts";
import { askAllAtOnce, writeRead } from "./crowd.ts";
import { endFleets, expectStatus, type Fleet, type Home, startBacking, startFleet } from "./fleet.ts";

const INVENTED = 2_000;
/** PostgreSQL counts a session's transactions once a second. */
const REPORTED_AFTER_MS = 1_500;

let postgres: PostgresServer;
let fleet: Fleet;

beforeAll(async () => {
  const backing = await startBacking();
  postgres = backing.postgres;
  fleet = await startFleet({ ...backing.addresses, count: 2, env: { GATEHOUSE_FRESH_MS: "600000" } });
});
afterAll(endFleets);

/** The token of a key that the first instance has just created. */
async function createKey({ serverId }: Home): Promise<string> {
  const wish = { server_id: serverId, label: "new" };
  return expectStatus(await fleet.at(0).admin("POST", "/keys", wish), 201).token;
}

test("the first request with a new key, on another instance and right after it was created, is answered", async () => {
  const statuses: number[] = [];
  for (let i = 0; i < 100; i++) {
    // Every fifth key belongs to a new server.
    const home = await fleet.addServer();
    for (let keys = 0; keys < 5 && statuses.length < 100; keys++) {
      statuses.push((await fleet.at(1).read({ token: await createKey(home) })).status);
    }
    if (statuses.length === 100) break;
  }
  expect(statuses).toEqual(Array.from({ length: 100 }, () => 200));
});

test("a token that replaces another works at once on another instance", async () => {
  const key = await fleet.addKey(await fleet.addServer());
  for (let i = 0; i < 20; i++) {
    const { token } = expectStatus(await fleet.at(0).admin("POST", `/keys/${key.keyId}/rotate`, {}), 200);
    expect((await fleet.at(1).read({ token })).status).toBe(200);
  }
});

/** How many transactions the sessions have ended; they report once a second. */
async function countTransactions(): Promise<number> {
  const query = "SELECT sum(xact_commit + xact_rollback)::text AS count FROM pg_stat_database";
  const [row] = (await postgres.ask(query)) as { count: string }[];
  return Number(row?.count);
}

test("2,000 invented tokens at once are refused for a few questions to PostgreSQL, and new keys work meanwhile", async () => {
  const home = await fleet.addServer();
  const before = await countTransactions();
  const requests = Array.from({ length: INVENTED }, () => writeRead(mintToken(randomBytes)));
  let isOver = false;
  const flood = askAllAtOnce([fleet.at(1).port], requests).finally(() => {
    isOver = true;
  });
  let valid = 0;
  do {
    expectStatus(await fleet.at(1).read({ token: await createKey(home) }), 200);
    valid++;
  } while (!isOver);
  const codes = (await flood).map(({ status, body }) => `${status} ${JSON.parse(body).code}`);
  expect(new Set(codes)).toEqual(new Set(["401 5008"]));
  await Bun.sleep(REPORTED_AFTER_MS);
  const transactions = (await countTransactions()) - before;
  console.log(`${INVENTED} invented tokens: ${transactions} transactions, ${valid} new keys`);
  expect(transactions).toBeLessThan(INVENTED / 2);
});
