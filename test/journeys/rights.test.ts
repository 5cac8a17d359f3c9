// The rights of a key over HTTP: every right alone and all combinations, with keys created through the admin API. Each
// combination has exactly one documented answer.
import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { SECTIONS } from "../../src/core/sections.ts";
import { ALL_SECTIONS_INFO, BASE_INFO } from "../fake-game-api.ts";
import { makeTestFolder, startGatehouse } from "../start-gatehouse.ts";
import { createOperator, expectRefusal, type NewKeyBody, type ServerBody } from "./operator.ts";
import { openStage } from "./stage.ts";

const OK = 200;
const MESSAGES: Readonly<Record<number, readonly [status: number, message: string, detail?: string]>> = {
  5008: [401, "invalid_token"],
  5009: [403, "forbidden", "reason"],
  5010: [403, "api_version_forbidden", "versions"],
  5011: [403, "query_param_forbidden", "sections"],
};
/** All requests of these tests come through this trusted proxy. */
const PROXY = "127.0.0.1";
const CLIENT = "203.0.113.7";

let town: ServerBody;
let open: ServerBody;

const {
  game: api,
  gatehouse,
  operator,
} = await openStage({
  answer: () => Response.json({ ...BASE_INFO, ...ALL_SECTIONS_INFO }),
  env: { GATEHOUSE_TRUST_PROXY: PROXY },
});

beforeAll(async () => {
  town = await operator.addServer({ community: "town" });
  open = await operator.addServer({ community: null });
});
beforeEach(() => gatehouse.clock.advance(60_000));

type Ask = { readonly community?: string; readonly sections?: readonly string[]; readonly from?: string };

function ask(token: string, { community, sections = [], from = CLIENT }: Ask = {}): Promise<Response> {
  const path = community === undefined ? "/v2/game/server" : `/v2/${community}/game/server`;
  const query = sections.map((name) => `${name}=true`).join("&");
  return gatehouse.get(`${path}?${query}`, token, { "X-Forwarded-For": from });
}

/** Returns 200, or the error code after a check of the whole refusal. */
async function codeOf(response: Response): Promise<number> {
  if (response.status === OK) return OK;
  const { details, ...body } = (await response.json()) as { code: number; details?: object };
  const [status, message, detail] = MESSAGES[body.code] ?? [];
  expect({ status: response.status, body }).toEqual({
    status: status ?? 0,
    body: { code: body.code, message } as { code: number },
  });
  expect(Object.keys(details ?? {})[0]).toBe(detail);
  return body.code;
}

describe("each right alone", () => {
  test.each([
    { versions: ["v2"], code: OK },
    { versions: ["v1", "v2"], code: OK },
    { versions: ["v1"], code: 5010 },
    { versions: [], code: 5010 },
  ])("versions $versions: $code", async ({ versions, code }) => {
    const key = await operator.addKey(town, { versions });
    expect(await codeOf(await ask(key.token))).toBe(code);
  });

  test.each([...SECTIONS])(
    "a key that lacks only %s is refused it, alone or among others, and nothing else",
    async (lacking) => {
      const others = SECTIONS.filter((name) => name !== lacking);
      const key = await operator.addKey(town, { sections: others });
      for (const section of SECTIONS) {
        const code = section === lacking ? 5011 : OK;
        expect([section, await codeOf(await ask(key.token, { sections: [section] }))]).toEqual([section, code]);
      }
      expect(await codeOf(await ask(key.token, { sections: SECTIONS }))).toBe(5011);
      const all = await ask(key.token, { sections: others });
      const body = (await all.json()) as object;
      expect(Object.keys(body).filter((name) => SECTIONS.some((section) => section === name))).toEqual(others);
      const notAsked = await gatehouse.get(`/v2/game/server?${lacking}=1`, key.token);
      expect(notAsked.status).toBe(200);
      expect(await notAsked.json()).not.toHaveProperty(lacking);
    },
  );

  test.each([...SECTIONS])("a key with only %s gets it, and no other", async (only) => {
    const key = await operator.addKey(town, { sections: [only] });
    for (const section of SECTIONS) {
      expect(await codeOf(await ask(key.token, { sections: [section] }))).toBe(section === only ? OK : 5011);
    }
  });

  test("a key without sections may read the server itself", async () => {
    const key = await operator.addKey(town, { sections: [] });
    expect(await codeOf(await ask(key.token))).toBe(OK);
    expect(await codeOf(await ask(key.token, { sections: ["Queue"] }))).toBe(5011);
  });

  test("a suspended key is 5009 until it is resumed", async () => {
    const key = await operator.addKey(town);
    await operator.changeKey(key, { suspended: true });
    expect(await codeOf(await ask(key.token))).toBe(5009);
    await operator.changeKey(key, { suspended: false });
    expect(await codeOf(await ask(key.token))).toBe(OK);
  });

  test("a key is 5008 from the very millisecond in which it expires", async () => {
    const key = await operator.addKey(town, { expires_at: gatehouse.clock.now + 2 });
    gatehouse.clock.advance(1);
    expect(await codeOf(await ask(key.token))).toBe(OK);
    gatehouse.clock.advance(1);
    expect(await codeOf(await ask(key.token))).toBe(5008);
  });

  test.each([
    { of: "town", community: undefined, code: OK },
    { of: "town", community: "town", code: OK },
    { of: "town", community: "t%6Fwn", code: OK },
    { of: "town", community: "Town", code: 5009 },
    { of: "town", community: "town2", code: 5009 },
    { of: "town", community: "tow", code: 5009 },
    { of: "open", community: undefined, code: OK },
    { of: "open", community: "town", code: OK },
    { of: "open", community: "any_1-thing", code: OK },
  ])("a key of the $of server asking as community $community: $code", async ({ of, community, code }) => {
    const key = await operator.addKey(of === "town" ? town : open);
    expect(await codeOf(await ask(key.token, community === undefined ? {} : { community }))).toBe(code);
  });

  const V4 = "203.0.113.7";
  const V6 = "2001:db8::7";
  test.each([
    { allow: [], from: V4, code: OK },
    { allow: [], from: V6, code: OK },
    { allow: ["203.0.113.7"], from: V4, code: OK },
    { allow: ["203.0.113.8"], from: V4, code: 5009 },
    { allow: ["203.0.113.0/24"], from: V4, code: OK },
    { allow: ["203.0.113.0/29"], from: "203.0.113.8", code: 5009 },
    { allow: ["203.0.113.6/31"], from: V4, code: OK },
    { allow: ["0.0.0.0/0"], from: V4, code: OK },
    { allow: ["0.0.0.0/0"], from: V6, code: 5009 },
    { allow: ["::/0"], from: V6, code: OK },
    { allow: ["2001:db8::7"], from: "2001:DB8:0:0::0007", code: OK },
    { allow: ["2001:0DB8::0007"], from: V6, code: OK },
    { allow: ["2001:db8::/32"], from: V6, code: OK },
    { allow: ["2001:db8:1::/48"], from: V6, code: 5009 },
    { allow: ["203.0.113.7"], from: "::ffff:203.0.113.7", code: OK },
    { allow: ["::ffff:203.0.113.7"], from: V4, code: OK },
    { allow: ["::ffff:203.0.113.0/120"], from: V4, code: OK },
    { allow: ["::ffff:203.0.113.0/120"], from: "203.0.114.7", code: 5009 },
    { allow: ["10.0.0.0/8", "2001:db8::/32", "203.0.113.7"], from: V4, code: OK },
    { allow: ["10.0.0.0/8", "2001:db8::/32", "203.0.113.7"], from: V6, code: OK },
    { allow: ["10.0.0.0/8", "2001:db8::/32", "203.0.113.7"], from: "203.0.113.9", code: 5009 },
    // The last address that is not a trusted proxy's counts; addresses before it are the client's own claim.
    { allow: ["203.0.113.7"], from: "203.0.113.7, 198.51.100.1", code: 5009 },
    { allow: ["203.0.113.7"], from: "198.51.100.1, 203.0.113.7", code: OK },
    { allow: ["203.0.113.7"], from: "203.0.113.7, 127.0.0.1", code: OK },
    { allow: ["127.0.0.1"], from: V4, code: 5009 },
  ])("ip_allow $allow, request from $from behind the trusted proxy: $code", async ({ allow, from, code }) => {
    const key = await operator.addKey(town, { ip_allow: allow });
    expect(await codeOf(await ask(key.token, { from }))).toBe(code);
  });

  test("an address list set by PATCH judges like one given at the start", async () => {
    const key = await operator.addKey(town);
    await operator.changeKey(key, { ip_allow: ["2001:db8::/32"] });
    expect(await codeOf(await ask(key.token))).toBe(5009);
    expect(await codeOf(await ask(key.token, { from: "2001:db8::9" }))).toBe(OK);
  });

  test.each([
    { commands: undefined, command: ":h hello", code: 5009 },
    { commands: [], command: ":h hello", code: 5009 },
    { commands: ["*"], command: ":anything at all", code: 202 },
    { commands: [":h", ":m"], command: ":h hello", code: 202 },
    { commands: ["h", "M"], command: ":m hello", code: 202 },
    { commands: [":h", ":m"], command: " :M hello", code: 202 },
    { commands: [":H"], command: ":h", code: 202 },
    { commands: [":h", ":m"], command: ":kick somebody", code: 5009 },
    { commands: [":h"], command: ":hello", code: 5009 },
    { commands: [":h"], command: "x :h", code: 5009 },
  ])("commands $commands, sending $command: $code", async ({ commands, command, code }) => {
    const key = await operator.addKey(await operator.addServer(), commands === undefined ? {} : { commands });
    const response = await gatehouse.admin(
      "POST",
      "/v2/game/server/command",
      { command },
      { Authorization: `Bearer ${key.token}` },
    );
    expect(response.status === 202 ? 202 : await codeOf(response)).toBe(code);
  });

  test("without a trusted proxy, the socket's address counts and X-Forwarded-For does not", async () => {
    const bare = await startGatehouse({ env: { GATEHOUSE_UPSTREAM_URL: api.url } });
    const bareOperator = createOperator(bare);
    const server = await bareOperator.addServer();
    for (const [ip_allow, code] of [
      [["127.0.0.1"], OK],
      [["::ffff:127.0.0.1"], OK],
      [["127.0.0.0/8"], OK],
      [[CLIENT], 5009],
    ] as const) {
      const { token } = await bareOperator.addKey(server, { ip_allow });
      const response = await bare.get("/v2/game/server", token, { "X-Forwarded-For": CLIENT });
      expect([ip_allow, await codeOf(response)]).toEqual([ip_allow, code]);
    }
    await bare.stop();
  });
});

describe("all rights together", () => {
  type Life = "alive" | "expired" | "revoked" | "rotated away" | "in grace" | "its server deleted";
  const LIVES: readonly Life[] = ["alive", "expired", "revoked", "rotated away", "in grace", "its server deleted"];
  const FLAGS = [false, true] as const;

  type Case = {
    readonly life: Life;
    readonly lacksVersion: boolean;
    readonly isSuspended: boolean;
    readonly isElsewhere: boolean;
    readonly isForeign: boolean;
    readonly lacksSection: boolean;
  };

  /** The contract's order, section 1: the key, then 5010, 5009, 5011. */
  function expectedCode(combination: Case): number {
    if (combination.life !== "alive" && combination.life !== "in grace") return 5008;
    if (combination.lacksVersion) return 5010;
    if (combination.isSuspended || combination.isElsewhere || combination.isForeign) return 5009;
    return combination.lacksSection ? 5011 : OK;
  }

  const CASES: Case[] = LIVES.flatMap((life) =>
    FLAGS.flatMap((lacksVersion) =>
      FLAGS.flatMap((isSuspended) =>
        FLAGS.flatMap((isElsewhere) =>
          FLAGS.flatMap((isForeign) =>
            FLAGS.map((lacksSection) => ({
              life,
              lacksVersion,
              isSuspended,
              isElsewhere,
              isForeign,
              lacksSection,
            })),
          ),
        ),
      ),
    ),
  );

  async function make(combination: Case): Promise<NewKeyBody> {
    const { life, lacksVersion, isSuspended, isElsewhere, lacksSection } = combination;
    const server = life === "its server deleted" ? await operator.addServer({ community: "town" }) : town;
    const key = await operator.addKey(server, {
      versions: lacksVersion ? ["v1"] : ["v2"],
      sections: lacksSection ? ["Staff"] : ["Players", "Staff"],
      ip_allow: isElsewhere ? ["10.0.0.0/8"] : [CLIENT],
      ...(life === "expired" && { expires_at: gatehouse.clock.now + 1 }),
    });
    if (isSuspended) await operator.changeKey(key, { suspended: true });
    if (life === "expired") gatehouse.clock.advance(1);
    if (life === "revoked") await operator.revoke(key);
    if (life === "rotated away") await operator.rotate(key);
    if (life === "in grace") await operator.rotate(key, { grace_seconds: 60 });
    if (life === "its server deleted") await gatehouse.admin("DELETE", `/admin/servers/${server.server_id}`);
    return key;
  }

  test.each([...LIVES])(
    "a key %s: the first rule that refuses it, in the documented order, is the answer",
    async (life) => {
      for (const combination of CASES.filter((one) => one.life === life)) {
        const { token } = await make(combination);
        const community = combination.isForeign ? "elsewhere" : "town";
        const response = await ask(token, { community, sections: ["Players", "Staff"] });
        expect({ ...combination, code: await codeOf(response) }).toEqual({
          ...combination,
          code: expectedCode(combination),
        });
      }
    },
  );

  test("the limit comes before the rights: a key over its limit is 5016, whatever it may not do", async () => {
    const key = await operator.addKey(town, { versions: [] });
    await operator.changeKey(key, { suspended: true });
    const answers = await Promise.all(Array.from({ length: 121 }, () => ask(key.token)));
    const statuses = answers.map((answer) => answer.status);
    expect(statuses.filter((status) => status === 403)).toHaveLength(120);
    expect(statuses.filter((status) => status === 429)).toHaveLength(1);
  });

  test("a path or method that is wrong comes before the key's own faults", async () => {
    const key = await operator.addKey(town, { versions: [] });
    await operator.revoke(key);
    await expectRefusal(await gatehouse.get("/v2/game/servers", key.token), 404, {
      code: 5020,
      message: "not_found",
    });
    const response = await gatehouse.get("/v1/game/server", key.token);
    expect(response.status).toBe(500);
  });
});

test("every right is the same after a restart", async () => {
  const folder = makeTestFolder();
  const env = { GATEHOUSE_UPSTREAM_URL: api.url };
  const first = await startGatehouse({ folder, env });
  const before = createOperator(first);
  const server = await before.addServer({ community: "town" });
  const made: [string, number][] = [];
  for (const [rights, code] of [
    [{}, OK],
    [{ versions: ["v1"] }, 5010],
    [{ sections: ["Staff"] }, 5011],
    [{ ip_allow: ["10.0.0.0/8"] }, 5009],
    [{ expires_at: first.clock.now + 1 }, 5008],
  ] as const) {
    made.push([(await before.addKey(server, rights)).token, code]);
  }
  const suspended = await before.addKey(server);
  await before.changeKey(suspended, { suspended: true });
  made.push([suspended.token, 5009]);
  await first.app.stop();
  first.clock.advance(1);
  const second = await startGatehouse({ folder, env, clock: first.clock });
  for (const [token, code] of made) {
    expect(await codeOf(await second.get("/v2/town/game/server?Players=true", token))).toBe(code);
  }
  await second.stop();
  rmSync(folder, { recursive: true, force: true });
});
