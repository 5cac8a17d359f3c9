import { expect, test } from "bun:test";
import { StartRefused } from "../core/errors.ts";
import { findGameKeyProblem, PUBLISHED_GAME_KEY } from "../core/events/game-hook.ts";
import { parseConfig } from "./config.ts";

test("the published key is one, and is used when nothing is set", () => {
  expect(findGameKeyProblem(PUBLISHED_GAME_KEY)).toBeUndefined();
  expect(parseConfig({}).gamePublicKey).toBe(PUBLISHED_GAME_KEY);
  expect(parseConfig({ GATEHOUSE_GAME_PUBLIC_KEY: "" }).gamePublicKey).toBe(PUBLISHED_GAME_KEY);
});

test("the API key that the pages let readers export is no unknown setting, when they start Gatehouse in that terminal", () => {
  const { unknownSettings } = parseConfig({
    GATEHOUSE_URL: "http://a",
    GATEHOUSE_KEY: "gth_a",
    GATEHOUSE_KEYS: "",
  });
  expect(unknownSettings).toEqual(["GATEHOUSE_KEYS"]);
});

test.each([
  ["a word", "secret"],
  ["the key alone, without its form", "jSICb9pp0kHizGQtdG8ySWsDChfGqi+gyFCttigBNOA="],
  ["a key of another kind", PUBLISHED_GAME_KEY.replace("K2Vw", "K2Vu")],
  ["a cut key", PUBLISHED_GAME_KEY.slice(0, -2)],
  ["a key with more after it", `${PUBLISHED_GAME_KEY}AAAA`],
  ["base64 that nobody writes", PUBLISHED_GAME_KEY.replace("OA=", "OB=")],
  ["a PEM", `-----BEGIN PUBLIC KEY-----\n${PUBLISHED_GAME_KEY}\n-----END PUBLIC KEY-----`],
])("%s is refused at the start with a sentence that says what it must be", (_, text) => {
  expect(() => parseConfig({ GATEHOUSE_GAME_PUBLIC_KEY: text })).toThrow(
    "GATEHOUSE_GAME_PUBLIC_KEY must be the game's public key: an Ed25519 key in SPKI form as base64",
  );
});

const POSTGRES = "postgres://gatehouse@db.example.org/gatehouse";

/** The lines of the refusal. */
function listFaults(environment: Record<string, string>): string[] {
  try {
    parseConfig(environment);
    return [];
  } catch (error) {
    if (!(error instanceof StartRefused)) throw error;
    expect(error.exitCode).toBe(2);
    return error.message.split("\n  - ").slice(1);
  }
}

test("without settings everything is in SQLite, and with a PostgreSQL everything is there", () => {
  expect(parseConfig({})).toMatchObject({ store: "sqlite", archive: "sqlite", redis: undefined });
  const place = { postgresUrl: POSTGRES };
  expect(parseConfig({ GATEHOUSE_STORE: POSTGRES })).toMatchObject({ store: place, archive: place });
  const several = parseConfig({ GATEHOUSE_STORE: POSTGRES, GATEHOUSE_REDIS: "redis://r.example.org:6380" });
  expect(several).toMatchObject({ store: place, archive: place, redis: { isCluster: false } });
});

test.each(["off", "postgresql://other.example.org/events"])("the archive may be elsewhere: %s", (archive) => {
  const config = parseConfig({ GATEHOUSE_STORE: POSTGRES, GATEHOUSE_ARCHIVE: archive });
  const expected: unknown = archive.includes(":") ? { postgresUrl: archive } : archive;
  expect<unknown>(config.archive).toEqual(expected);
});

test.each(["redis://r", "rediss://r:1", "redis+cluster://a,b", "rediss+cluster://a", "redis+sentinel://a/m"])(
  "%s as the store is refused with what to write instead",
  (store) => {
    const [fault, ...more] = listFaults({ GATEHOUSE_STORE: store, GATEHOUSE_REDIS: "redis://r" });
    expect(fault).toStartWith("GATEHOUSE_STORE cannot be a Redis");
    expect(fault).toContain("GATEHOUSE_STORE=postgres://… and GATEHOUSE_REDIS=redis://…");
    expect(fault).toContain("docs/scaling.md");
    expect(more).toEqual([]);
  },
);

test("a Redis beside SQLite is refused with the setting that it needs", () => {
  const faults = listFaults({ GATEHOUSE_REDIS: "redis://r" });
  expect(faults).toHaveLength(1);
  expect(faults[0]).toStartWith("GATEHOUSE_REDIS ");
  expect(faults[0]).toContain("set GATEHOUSE_STORE to a postgres:// address");
});

test.each([{}, { GATEHOUSE_REDIS: "redis://r" }])("events cannot be in a file when the rest is not: %j", (redis) => {
  const faults = listFaults({ GATEHOUSE_STORE: POSTGRES, GATEHOUSE_ARCHIVE: "sqlite", ...redis });
  expect(faults).toEqual([
    "GATEHOUSE_ARCHIVE must be off or a postgres:// address, or left out, when GATEHOUSE_STORE is a postgres:// address",
  ]);
});

test("all faults are told together, and none shows a password", () => {
  const faults = listFaults({
    GATEHOUSE_STORE: "mysql://user:hunter2@db/a",
    GATEHOUSE_REDIS: "http://user:hunter2@r",
    GATEHOUSE_ARCHIVE: "postgres://user:hunter2%@db/a",
    GATEHOUSE_PORT: "many",
  });
  expect(faults.map((fault) => fault.split(" ")[0])).toEqual([
    "GATEHOUSE_STORE",
    "GATEHOUSE_REDIS",
    "GATEHOUSE_ARCHIVE",
    "GATEHOUSE_PORT",
  ]);
  expect(faults.join()).not.toContain("hunter2");
});

const CHAT = { GATEHOUSE_DISCORD_CLIENT_ID: "123", GATEHOUSE_DISCORD_CLIENT_SECRET: "s3cret" };
const PUBLIC = { GATEHOUSE_PUBLIC_URL: "https://gatehouse.example.org" };

test("an application at the chat platform needs its id, its secret and the public address", () => {
  expect(parseConfig({}).chat).toBeUndefined();
  expect(parseConfig({ ...CHAT, ...PUBLIC }).chat).toEqual({
    baseUrl: "https://discord.com",
    clientId: "123",
    clientSecret: "s3cret",
    returnUrl: "https://gatehouse.example.org/session/chat/return",
  });
  // What stands in for Discord has ids of its own.
  const other = { GATEHOUSE_DISCORD_URL: "http://127.0.0.1:9", GATEHOUSE_DISCORD_CLIENT_ID: "test-client" };
  expect(parseConfig({ ...CHAT, ...PUBLIC, ...other }).chat).toMatchObject({ clientId: "test-client" });
  const both = "GATEHOUSE_DISCORD_CLIENT_ID and GATEHOUSE_DISCORD_CLIENT_SECRET must be set together";
  const needsPage = "GATEHOUSE_DISCORD_CLIENT_ID needs GATEHOUSE_PUBLIC_URL, where people come back to";
  expect(listFaults(CHAT)).toEqual([needsPage]);
  expect(listFaults({ GATEHOUSE_DISCORD_CLIENT_SECRET: "s3cret" })).toEqual([both, needsPage]);
  expect(listFaults({ GATEHOUSE_DISCORD_CLIENT_ID: "123", ...PUBLIC })).toEqual([both]);
});

test.each([
  ["https://chat.example.org", true],
  ["http://127.0.0.1:8081", true],
  ["http://localhost:8081", true],
  ["http://[::1]:8081", true],
  ["http://chat.example.org", false],
  ["http://127.0.0.1.example.org", false],
  ["http://localhost.example.org", false],
  ["https://chat.example.org/", false],
  ["https://user:secret@chat.example.org", false],
  ["ftp://127.0.0.1", false],
])("the chat platform at %s: %p, because secrets are sent there", (url, isFine) => {
  const faults = listFaults({ ...CHAT, ...PUBLIC, GATEHOUSE_DISCORD_URL: url });
  expect(faults).toHaveLength(isFine ? 0 : 1);
  expect(faults.join()).not.toContain("secret");
});
