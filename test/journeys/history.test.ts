// The past of a server through the whole app: readings of a game become counts, sessions and what staff did, and are asked for
// over HTTP by callers and operators.
import { beforeAll, describe, expect, spyOn, test } from "bun:test";
import { ArchiveUnavailable } from "../../src/core/errors.ts";
import { SECTIONS, type Section, toSectionSet } from "../../src/core/sections.ts";
import type {
  PeaksResource,
  PlayersHistory,
  PlaytimePage,
  SessionPage,
  StaffPage,
} from "../../src/core/wire/history.ts";
import type { ServerResource } from "../../src/core/wire/server.ts";
import { MemoryArchive } from "../event-archive.ts";
import { BASE_INFO } from "../fake-game-api.ts";
import { startGatehouse, type TestKey } from "../start-gatehouse.ts";
import { until } from "../until.ts";
import { openStage } from "./stage.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HISTORY = "/v2/game/server/history";

const archive = new MemoryArchive();
let serverId: string;
let key: TestKey;
/** When the first reading was made: a whole minute, a Friday. */
let start: number;

const ANN = {
  Player: "Ann:1",
  Permission: "Server Moderator",
  Callsign: null,
  Team: "Police",
  WantedStars: 0,
};
const BOB = { Player: "Bob:2", Permission: "Normal", Callsign: null, Team: "Civilian", WantedStars: 0 };
const CID = { ...BOB, Player: "Cid:3" };

/** Sets what the game shows, and lets a caller read it. */
async function read(afterMs: number, players: readonly object[], logs: object): Promise<void> {
  const { clock } = gatehouse;
  clock.advance(start + afterMs - clock.now);
  const sections = {
    Players: players,
    Staff: { Mods: { "1": "Ann" } },
    Queue: [9],
    KillLogs: [],
    Vehicles: [],
  };
  const info = { ...BASE_INFO, CurrentPlayers: players.length, ...sections, EmergencyCalls: [], ...logs };
  game.answer = () => Response.json(info);
  expect((await gatehouse.get("/v2/game/server", key.token)).status).toBe(200);
  await until("the reading is not recorded", async () => {
    const { counts } = await archive.readOpenHistory(serverId);
    return counts.last?.at === clock.now;
  });
}

const secondsAt = (ms: number) => (start + ms) / 1_000;

const { game, gatehouse } = await openStage({ archive });

beforeAll(async () => {
  const server = await gatehouse.addServer({ community: "cedar" });
  key = await gatehouse.addKey(server);
  serverId = server.serverId;
  start = gatehouse.clock.now;
  const command = { Player: "Ann:1", Timestamp: secondsAt(25 * SECOND), Command: ":h hi" };
  const call = { Caller: "Bob:2", Moderator: null, Timestamp: secondsAt(25 * SECOND) };
  const cidJoined = { Join: true, Timestamp: secondsAt(20 * SECOND), Player: "Cid:3" };
  const bobLeft = { Join: false, Timestamp: secondsAt(50 * SECOND), Player: "Bob:2" };
  const none = { JoinLogs: [], CommandLogs: [], ModCalls: [] };
  const answered = {
    JoinLogs: [cidJoined, bobLeft],
    CommandLogs: [command],
    ModCalls: [{ ...call, Moderator: "Ann:1" }],
  };
  await read(0, [ANN, BOB], none);
  await read(30 * SECOND, [ANN, BOB, CID], {
    JoinLogs: [cidJoined],
    CommandLogs: [command],
    ModCalls: [call],
  });
  await read(60 * SECOND, [ANN, CID], answered);
  // Cid vanishes without an entry.
  await read(90 * SECOND, [ANN], answered);
  await read(120 * SECOND, [ANN], answered);
});

async function ask<T>(path: string, token = key.token): Promise<T> {
  const answer = await gatehouse.get(`${HISTORY}/${path}`, token);
  expect([path, answer.status]).toEqual([path, 200]);
  return (await answer.json()) as T;
}

async function refused(path: string, token = key.token) {
  const answer = await gatehouse.get(`${HISTORY}/${path}`, token);
  return [answer.status, (await answer.json()) as Record<string, unknown>] as const;
}

async function makeKey(...sections: Section[]): Promise<TestKey> {
  const server = gatehouse.app.store.servers.find(serverId);
  if (!server) throw new Error("the server is gone");
  return gatehouse.addKey(server, { sections: toSectionSet(sections) });
}

/** The status for a key that loses all of its sections while the archive is read. */
async function askWhileNarrowed(question: string): Promise<number> {
  const { keyId, token } = await makeKey(...SECTIONS);
  const readOpenHistory = archive.readOpenHistory.bind(archive);
  const reading = spyOn(archive, "readOpenHistory").mockImplementationOnce(async (...args) => {
    expect((await gatehouse.admin("PATCH", `/admin/keys/${keyId}`, { sections: [] })).status).toBe(200);
    return readOpenHistory(...args);
  });
  const { status } = await gatehouse.get(`${HISTORY}/${question}`, token);
  reading.mockRestore();
  return status;
}

describe("readings become a history", () => {
  test("players: averages over the known time, and null where nobody looked", async () => {
    const to = start + 4 * MINUTE;
    const { resolution, points } = await ask<PlayersHistory>(`players?from=${start - MINUTE}&to=${to}`);
    expect(resolution).toBe("1m");
    expect(points.map(({ at, min, avg, max }) => [(at - start) / MINUTE, min, avg, max])).toEqual([
      [-1, null, null, null],
      [0, 2, 2.5, 3],
      [1, 1, 1.5, 2],
      [2, 1, 1, 1],
      [3, null, null, null],
    ]);
    expect(points.map(({ known }) => known)).toEqual([0, 1, 1, 0.0001, 0]);
    expect(points[1]).toMatchObject({ queue_max: 1, staff_max: 1, teams: { Police: 1, Civilian: 1.5 } });
  });

  test("sessions: newest first, with how each ended and the time in each team", async () => {
    const { items, next } = await ask<SessionPage>("sessions");
    expect(next).toBeNull();
    expect(
      items.map(({ player, joined_at, left_at, seconds, ended }) => [
        player,
        joined_at - start,
        left_at === null ? null : left_at - start,
        seconds,
        ended,
      ]),
    ).toEqual([
      ["Cid:3", 20_000, 60_000, 40, "vanished"],
      ["Ann:1", 0, null, 120, null],
      ["Bob:2", 0, 50_000, 50, "log"],
    ]);
    expect(items[1]?.teams).toEqual({ Police: 120 });
    expect((await ask<SessionPage>("sessions?player=2")).items.map(({ id }) => id)).toEqual(["2"]);
    expect((await ask<SessionPage>(`sessions?to=${start}`)).items).toEqual([]);
  });

  test("playtime and staff: as far as they are in the period", async () => {
    const { items } = await ask<PlaytimePage>("playtime");
    expect(items.map(({ player, seconds, sessions }) => [player, seconds, sessions])).toEqual([
      ["Ann:1", 120, 1],
      ["Bob:2", 50, 1],
      ["Cid:3", 40, 1],
    ]);
    const half = await ask<PlaytimePage>(`playtime?from=${start + 40 * SECOND}&to=${start + 60 * SECOND}`);
    expect(half.items.map(({ id, seconds }) => [id, seconds])).toEqual([
      ["1", 20],
      ["3", 20],
      ["2", 10],
    ]);
    expect((await ask<StaffPage>("staff")).items).toEqual([
      {
        player: "Ann:1",
        id: "1",
        seconds: 120,
        teams: { Police: 120 },
        role: "Mods",
        commands: 1,
        commands_by_kind: { kick: 0, ban: 0, jail: 0, message: 1, teleport: 0 },
        modcalls_answered: 1,
        median_between: [5, 35],
      },
    ]);
  });

  test("peaks: in the time zone of the question", async () => {
    const known = async (query: string) => {
      const { tz, table } = await ask<PeaksResource>(`peaks${query}`);
      return [
        tz,
        table.flatMap((row, day) => row.flatMap((value, hour) => (value === null ? [] : [[day, hour, value]]))),
      ];
    };
    // Friday, 08:00 UTC.
    expect(await known("")).toEqual(["UTC", [[4, 8, 2]]]);
    expect(await known("?tz=Asia/Kolkata")).toEqual(["Asia/Kolkata", [[4, 13, 2]]]);
    expect(await known("?tz=Pacific/Auckland")).toEqual(["Pacific/Auckland", [[4, 21, 2]]]);
  });

  test("the list of servers has the day of each when it is asked for", async () => {
    const list = async (query: string) => {
      const answer = await gatehouse.admin("GET", `/admin/servers${query}`);
      return (await answer.json()) as { items: ServerResource[]; details?: object };
    };
    const unknown = Array.from({ length: 23 }, () => null);
    expect((await list("?day=true")).items.map(({ day }) => day)).toEqual([[...unknown, 3]]);
    expect((await list("")).items.map((server) => "day" in server)).toEqual([false]);
    expect((await list("?day=yes")).details).toEqual({ day: "must be one of true, false" });
  });

  test("pages follow each other, also through the other form and for operators", async () => {
    const first = await ask<SessionPage>("sessions?limit=1");
    const second = await gatehouse.get(
      `/v2/cedar/game/server/history/sessions?limit=1&cursor=${first.next}`,
      key.token,
    );
    const { items, next } = (await second.json()) as SessionPage;
    const path = `/admin/servers/${serverId}/history/sessions?limit=1&cursor=${next}`;
    const third = (await (await gatehouse.admin("GET", path)).json()) as SessionPage;
    const pages = [first.items, items, third.items];
    expect(pages.map((page) => page.map(({ id }) => id))).toEqual([["3"], ["1"], ["2"]]);
    expect(third.next).toBeNull();
    for (const list of ["playtime", "staff"]) {
      const page = await ask<PlaytimePage>(`${list}?limit=1`);
      expect([list, page.items.length, page.next === null]).toEqual([list, 1, list === "staff"]);
    }
    const [status, { details }] = await refused(`sessions?player=1&cursor=${first.next}`);
    expect([status, details]).toEqual([400, { cursor: "must be the `next` of an earlier answer" }]);
  });
});

describe("rights and refusals", () => {
  test("a key gets no more than its sections", async () => {
    const { token } = await makeKey();
    const [point] = (await ask<PlayersHistory>(`players?from=${start}`, token)).points;
    expect(Object.keys(point ?? {})).toEqual(["at", "known", "min", "avg", "max"]);
    expect((await ask<PeaksResource>("peaks", token)).table).toHaveLength(7);
    expect(await refused("sessions", token)).toMatchObject([
      403,
      { code: 5011, details: { sections: ["Players", "JoinLogs"] } },
    ]);
    const { token: player } = await makeKey("Players", "JoinLogs");
    expect((await ask<PlaytimePage>("playtime", player)).items).toHaveLength(3);
    expect(await refused("staff", player)).toMatchObject([
      403,
      { code: 5011, details: { sections: ["Staff", "CommandLogs", "ModCalls"] } },
    ]);
  });

  test("a key that loses its sections while the archive is read is refused what needs them", async () => {
    const statuses: Record<string, number> = {};
    for (const question of ["players", "sessions", "playtime", "staff", "peaks"])
      statuses[question] = await askWhileNarrowed(question);
    expect(statuses).toEqual({ players: 200, sessions: 403, playtime: 403, staff: 403, peaks: 200 });
  });

  test("wrong questions name every fault, and count", async () => {
    const [status, body] = await refused("players?from=x&resolution=2m");
    expect([status, body.code, Object.keys(body.details ?? {})]).toEqual([400, 5104, ["from", "resolution"]]);
    expect(await refused("peaks?tz=Nowhere")).toMatchObject([400, { code: 5104 }]);
    expect(await refused("sessions?player=Ann&limit=501")).toMatchObject([400, { code: 5104 }]);
    const answer = await gatehouse.get(`${HISTORY}/peaks`, key.token);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(Number(answer.headers.get("x-ratelimit-remaining"))).toBeLessThan(119);
  });

  test("503 while the archive does not answer, 501 without one, 404 for a server that is not there", async () => {
    archive.fault = new ArchiveUnavailable("away");
    expect(await refused("players")).toMatchObject([503, { code: 5106 }]);
    archive.fault = undefined;
    const bare = await startGatehouse();
    const server = await bare.addServer();
    const { token } = await bare.addKey(server);
    expect((await bare.get(`${HISTORY}/staff`, token)).status).toBe(501);
    expect((await bare.admin("GET", `/admin/servers/${server.serverId}/history/peaks`)).status).toBe(501);
    await bare.stop();
    expect((await gatehouse.admin("GET", "/admin/servers/srv_none/history/peaks")).status).toBe(404);
  });
});

test("a forgotten player leaves no trace in any answer", async () => {
  for (const id of ["1", "2", "3"]) expect((await gatehouse.admin("DELETE", `/admin/players/${id}`)).status).toBe(204);
  const answers = [];
  for (const path of ["players", "sessions", "playtime", "staff", "peaks"])
    answers.push(JSON.stringify(await ask<object>(path)));
  const text = answers.join("\n");
  expect(text).toContain("deleted:0");
  expect(text).not.toMatch(/Ann|Bob|Cid|:[123]"|"id":"[123]"/);
});
