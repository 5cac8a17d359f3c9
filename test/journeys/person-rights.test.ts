// The rights of a person's token over HTTP, as those of a key: every way in which it can end, with every role, in every
// combination. Each has exactly one documented answer.
import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { DAY_MS, MINUTE_MS } from "../../src/core/durations.ts";
import type { GameServer } from "../../src/core/game-server.ts";
import type { Person } from "../../src/core/people/person.ts";
import { toSectionSet } from "../../src/core/sections.ts";
import { ALL_SECTIONS_INFO, BASE_INFO } from "../fake-game-api.ts";
import { addPerson, type PageBrowser, signIn } from "../people.ts";
import { openStage } from "./stage.ts";

const PATH = "/v2/game/server";
const OK = 0;

const { gatehouse } = await openStage({ answer: () => Response.json({ ...BASE_INFO, ...ALL_SECTIONS_INFO }) });
const { store } = gatehouse.app;

let town: GameServer;
let village: GameServer;
beforeAll(async () => {
  town = await gatehouse.addServer({ name: "Town", community: "town" });
  village = await gatehouse.addServer({ name: "Village" });
  for (const lacksSection of [false, true]) {
    for (const lacksCommand of [false, true]) {
      await store.roles.put({
        name: roleOf({ lacksSection, lacksCommand }),
        title: "Test",
        sections: toSectionSet(lacksSection ? ["Staff"] : ["Players", "Staff"]),
        hide: 0,
        commands: lacksCommand ? [] : [":h"],
        may: 0,
      });
    }
  }
});
beforeEach(() => gatehouse.clock.advance(MINUTE_MS));

const LIVES = [
  "signed in",
  "signed in again elsewhere",
  "signed out",
  "its session ended from elsewhere",
  "all sessions ended",
  "its token expired",
  "its session expired",
  "disabled",
  "disabled and enabled",
  "deleted",
  "without a role there any more",
  "with a role elsewhere only",
  "its server deleted",
] as const;
type Life = (typeof LIVES)[number];
const REQUESTS = ["read", "list", "send"] as const;
const FLAGS = [false, true] as const;

type Case = {
  readonly life: Life;
  readonly request: (typeof REQUESTS)[number];
  readonly isForAdmin: boolean;
  readonly isForeign: boolean;
  readonly lacksSection: boolean;
  readonly lacksCommand: boolean;
};

const CASES: readonly Case[] = LIVES.flatMap((life) =>
  REQUESTS.flatMap((request) =>
    FLAGS.flatMap((isForAdmin) =>
      FLAGS.flatMap((isForeign) =>
        FLAGS.flatMap((lacksSection) =>
          FLAGS.map((lacksCommand) => ({ life, request, isForAdmin, isForeign, lacksSection, lacksCommand })),
        ),
      ),
    ),
  ),
);

function roleOf({ lacksSection, lacksCommand }: Pick<Case, "lacksSection" | "lacksCommand">): string {
  return `test-${lacksSection ? "few" : "all"}-${lacksCommand ? "mute" : "loud"}`;
}

/** In the order of keys: the token, then 5009, 5011. */
function expectedCode({ life, request, isForAdmin, isForeign, lacksSection, lacksCommand }: Case): number {
  const isAlive = life === "signed in" || life === "signed in again elsewhere";
  const isWithout = life === "without a role there any more" || life === "with a role elsewhere only";
  if (isForAdmin || !(isAlive || isWithout)) return 5008;
  if (isWithout || isForeign || (request !== "read" && lacksCommand)) return 5009;
  return request === "read" && lacksSection ? 5011 : OK;
}

async function endLife(life: Life, person: Person, browser: PageBrowser, server: GameServer): Promise<void> {
  const { people, sessions, servers } = store;
  const { personId } = person;
  const { now } = gatehouse.clock;
  const [session] = await sessions.list(personId, now);
  if (life === "signed in again elsewhere") await signIn(gatehouse, person);
  if (life === "signed out") await browser.send("DELETE", "/session");
  if (life === "its session ended from elsewhere") {
    const phone = await signIn(gatehouse, person);
    expect((await phone.send("DELETE", `/session/sessions/${session?.sessionId}`)).status).toBe(204);
  }
  if (life === "all sessions ended") await sessions.end(personId, undefined, now);
  if (life === "its token expired") gatehouse.clock.advance(15 * MINUTE_MS);
  if (life === "its session expired") gatehouse.clock.advance(30 * DAY_MS);
  if (life.startsWith("disabled")) await people.update(personId, { isDisabled: true });
  if (life === "disabled and enabled") await people.update(personId, { isDisabled: false });
  if (life === "deleted") await people.delete(personId);
  if (life === "without a role there any more") await people.update(personId, { servers: [] });
  if (life === "with a role elsewhere only")
    await people.update(personId, { servers: [{ serverId: village.serverId, role: "manager" }] });
  if (life === "its server deleted") await servers.delete(server.serverId, now);
}

function ask(token: string, { request, isForeign }: Case): Promise<Response> {
  const base = `/v2/${isForeign ? "elsewhere" : "town"}/game/server`;
  if (request === "read") return gatehouse.get(`${base}?Players=true&Staff=true`, token);
  if (request === "list") return gatehouse.get(`${base}/command`, token);
  return gatehouse.admin("POST", `${base}/command`, { command: ":h hello" }, { Authorization: `Bearer ${token}` });
}

async function codeOf(answer: Response): Promise<number> {
  const body = (await answer.json()) as { code?: number };
  if (answer.status === 401) expect(answer.headers.get("www-authenticate")).toBe("Bearer");
  return answer.ok ? OK : (body.code ?? -1);
}

test("there are more cases than keys have", () => {
  expect(CASES.length).toBeGreaterThan(391);
});

test.each([...LIVES])(
  "a person %s: the first rule that refuses, in the documented order, is the answer",
  async (life) => {
    for (const one of CASES.filter((each) => each.life === life)) {
      const server = life === "its server deleted" ? await gatehouse.addServer({ community: "town" }) : town;
      const person = await addPerson(gatehouse, { servers: [{ serverId: server.serverId, role: roleOf(one) }] });
      if (one.isForAdmin) await store.people.update(person.personId, { isOperator: true });
      const browser = await signIn(gatehouse, person);
      const token = await browser.token(one.isForAdmin ? undefined : server.serverId);
      if (one.isForAdmin) {
        await store.people.update(person.personId, { isOperator: false });
      } else {
        // It is known, so that what is remembered of it has to be forgotten.
        expect((await gatehouse.get("/v2/game/key", token)).status).toBe(200);
      }
      await endLife(life, person, browser, server);
      expect({ ...one, code: await codeOf(await ask(token, one)) }).toEqual({ ...one, code: expectedCode(one) });
      if (life !== "deleted") await store.people.delete(person.personId);
    }
  },
);

describe("the header", () => {
  test("its spellings are judged as those of a key", async () => {
    const person = await addPerson(gatehouse, { servers: [{ serverId: town.serverId, role: "viewer" }] });
    const token = await (await signIn(gatehouse, person)).token(town.serverId);
    const send = async (authorization: string) =>
      codeOf(await gatehouse.get(PATH, undefined, { Authorization: authorization }));
    for (const right of [`Bearer ${token}`, `bEaReR   ${token}`, `bearer ${token} `])
      expect(await send(right)).toBe(OK);
    for (const missing of ["Bearer", "Bearer ", "Basic dXNlcjpwYXNz", token, `Token ${token}`, `Bearer${token}`])
      expect([missing, await send(missing)]).toEqual([missing, 5007]);
    const wrongs = [
      `${token} ${token}`,
      `${token},${token}`,
      `${token}, Bearer ${token}`,
      "gts_",
      `${token}.`,
      `.${token}`,
    ];
    for (const wrong of wrongs) expect([wrong, await send(`Bearer ${wrong}`)]).toEqual([wrong, 5008]);
  });

  test("the façade takes no token of a person", async () => {
    const person = await addPerson(gatehouse, { isOperator: true });
    const token = await (await signIn(gatehouse, person)).token(town.serverId);
    const answer = await gatehouse.get("/v2/server", undefined, { "Server-Key": token });
    expect(answer.status).toBe(403);
  });
});
