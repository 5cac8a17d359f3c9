// A town is repeatable, lived in from the first look, and never contradicts itself.
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { Compile } from "typebox/compile";
import { SECTIONS } from "../core/sections.ts";
import { SectionSchemas, ServerInfo } from "../core/wire/server-info.ts";
import { runRemoteCommand } from "./commands.ts";
import { chooseQuirks } from "./quirks.ts";
import { Random } from "./random.ts";
import { listResidents, type Town } from "./town.ts";
import { tellTown } from "./town-answer.ts";
import { advanceTown, CATCH_UP_SECONDS_MAX, foundTown, type TownPlan } from "./town-clock.ts";

// A slow machine under load needs longer than the usual five seconds for thousands of reads.
setDefaultTimeout(60_000);

const START_MS = 1_800_000_000_000;
const PLAN: TownPlan = { seed: 1, serverId: "demo", playersWanted: 24, maxPlayers: 24, speed: 1 };
const PLAIN = chooseQuirks(false);
const QUIRKY = chooseQuirks(true);
const ServerInfoCheck = Compile(ServerInfo);

const tell = (town: Town, quirks = PLAIN) =>
  tellTown(town, SECTIONS, quirks) as unknown as Required<ServerInfo>;
const idOf = (ref: string | undefined) => Number(ref?.slice(ref.lastIndexOf(":") + 1));

function expectConsistent(info: Required<ServerInfo>): void {
  const inTown = new Set(info.Players.map(({ Player }) => Player));
  const idsInTown = new Set([...inTown].map(idOf));
  const queue = new Set(info.Queue);
  const latest = new Map<string, boolean>();
  for (const { Player = "", Join = false } of info.JoinLogs)
    if (!latest.has(Player)) latest.set(Player, Join);
  const contradictions = [...latest].filter(([player, isIn]) => inTown.has(player) !== isIn);
  const isSorted = info.JoinLogs.every(
    ({ Timestamp = 0 }, i) => i === 0 || (info.JoinLogs[i - 1]?.Timestamp ?? 0) >= Timestamp,
  );
  const facts = {
    count: info.CurrentPlayers === info.Players.length && idsInTown.size === info.Players.length,
    room: info.CurrentPlayers <= info.MaxPlayers,
    queueOnlyWhenFull: info.Queue.length === 0 || info.CurrentPlayers === info.MaxPlayers,
    queueOfDistinctOutsiders:
      queue.size === info.Queue.length && info.Queue.every((id) => !idsInTown.has(id)),
    joinLogsAgree: contradictions.length === 0,
    newestFirst: isSorted,
  };
  const broken = Object.entries(facts).filter(([, holds]) => !holds);
  if (broken.length > 0) expect({ broken, contradictions }).toEqual({ broken: [], contradictions: [] });
}

const ELEMENT_FIELDS: Record<string, number> = {
  Players: 6,
  JoinLogs: 3,
  KillLogs: 3,
  CommandLogs: 3,
  ModCalls: 3,
  EmergencyCalls: 8,
  Vehicles: 5,
};

/** Every nested field is optional in the schemas, so their presence is counted apart. */
function findIncomplete(info: Required<ServerInfo>): unknown[] {
  const elements = Object.entries(ELEMENT_FIELDS).flatMap(([section, count]) =>
    info[section as "Players"].filter((element) => Object.keys(element).length !== count),
  );
  const locations = info.Players.filter(({ Location }) => Object.keys(Location ?? {}).length !== 5);
  return [...elements, ...locations];
}

describe("repeatability", () => {
  test("the same seed, server and moments give the same town, to the last byte", () => {
    const first = foundTown(PLAN, START_MS);
    const second = foundTown(PLAN, START_MS);
    for (let minute = 0; minute < 30; minute++) {
      advanceTown(first, START_MS + minute * 60_000);
      advanceTown(second, START_MS + minute * 60_000);
      expect(JSON.stringify(tell(first, QUIRKY))).toBe(JSON.stringify(tell(second, QUIRKY)));
    }
  });

  test("looking more often does not change what happens", () => {
    const rarely = foundTown(PLAN, START_MS);
    const often = foundTown(PLAN, START_MS);
    advanceTown(rarely, START_MS + 600_000);
    for (let ms = 0; ms <= 600_000; ms += 700) advanceTown(often, START_MS + ms);
    advanceTown(often, START_MS + 600_000);
    expect(tell(often)).toEqual(tell(rarely));
  });

  test("another seed or another server is another town", () => {
    const names = [PLAN, { ...PLAN, seed: 2 }, { ...PLAN, serverId: "other" }].map((plan) =>
      JSON.stringify(tell(foundTown(plan, START_MS)).Players),
    );
    expect(new Set(names).size).toBe(3);
  });
});

describe("the first look", () => {
  test("nearly every seed shows all nine sections filled at once", () => {
    const bare = Array.from({ length: 100 }, (_, seed) =>
      tell(foundTown({ ...PLAN, seed }, START_MS)),
    ).filter((info) => SECTIONS.some((section) => Object.keys(info[section]).length === 0));
    expect(bare.length).toBeLessThanOrEqual(3);
  });

  test("no timestamp lies in the future, and the oldest is within the hour", () => {
    const info = tell(foundTown(PLAN, START_MS));
    const times = [...info.JoinLogs, ...info.KillLogs, ...info.CommandLogs, ...info.ModCalls].map(
      (log) => log.Timestamp ?? 0,
    );
    times.push(...info.EmergencyCalls.map(({ StartedAt = 0 }) => StartedAt));
    expect(Math.max(...times)).toBeLessThanOrEqual(START_MS / 1000);
    expect(Math.min(...times)).toBeGreaterThan(START_MS / 1000 - 3600);
  });

  test.each([1, 2, 5, 100])("a town for %i players is consistent", (players) => {
    const info = tell(foundTown({ ...PLAN, playersWanted: players, maxPlayers: players }, START_MS));
    expectConsistent(info);
    expect(info.CurrentPlayers).toBeGreaterThan(0);
  });
});

describe("10,000 reads at high speed", () => {
  test("each validates against the schemas, is complete and consistent", () => {
    const town = foundTown({ ...PLAN, speed: 15 }, START_MS);
    const seen = {
      queue: 0,
      free: 0,
      jailed: 0,
      wanted: 0,
      responded: 0,
      answeredCalls: 0,
      teams: new Set<string>(),
    };
    for (let read = 0; read < 10_000; read++) {
      advanceTown(town, START_MS + read * 1000);
      const info = tell(town);
      expectConsistent(info);
      if (!ServerInfoCheck.Check(info)) expect(ServerInfoCheck.Errors(info)).toEqual([]);
      if (findIncomplete(info).length > 0) expect(findIncomplete(info)).toEqual([]);
      if (info.Queue.length > 0) seen.queue++;
      if (info.CurrentPlayers < info.MaxPlayers) seen.free++;
      if (info.Players.some(({ WantedStars = 0 }) => WantedStars > 0)) seen.wanted++;
      if (info.EmergencyCalls.some(({ Players = [] }) => Players.length > 0)) seen.responded++;
      if (info.ModCalls.some(({ Moderator }) => Moderator)) seen.answeredCalls++;
      for (const { Team = "" } of info.Players) seen.teams.add(Team);
    }
    expect(seen.queue).toBeGreaterThan(1000);
    expect(seen.free).toBeGreaterThan(1000);
    expect(Math.min(seen.wanted, seen.responded, seen.answeredCalls)).toBeGreaterThan(1000);
    expect([...seen.teams].sort()).toEqual(["Civilian", "DOT", "Fire", "Jail", "Police", "Sheriff"]);
  });

  test("logs stay within their windows, newest first, and quirks keep the town consistent", () => {
    const town = foundTown({ ...PLAN, serverId: "windows", speed: 100 }, START_MS);
    for (let read = 0; read < 500; read++) {
      advanceTown(town, START_MS + read * 2000);
      const info = tell(town, QUIRKY);
      expectConsistent(info);
      expect(info.JoinLogs.length).toBeLessThanOrEqual(100);
      expect(info.EmergencyCalls.length).toBeLessThanOrEqual(12);
    }
    expect(town.joins.newest().length).toBe(100);
    expect(town.kills.newest().length).toBe(100);
    expect(town.commands.newest().length).toBe(100);
    expect(town.modCalls.newest().length).toBe(50);
  });
});

test("no sequence of commands makes the town contradict itself", () => {
  const random = new Random(5);
  const town = foundTown({ ...PLAN, serverId: "commands", speed: 10 }, START_MS);
  const words =
    "kick ban unban kill wanted jail unjail tp respawn mod unmod admin helper startfire stopfire".split(" ");
  for (let i = 0; i < 3000; i++) {
    advanceTown(town, START_MS + i * 1000);
    const name = random.find(listResidents(town))?.person.name ?? "nobody";
    const target = random.isLucky(0.02)
      ? "all"
      : random.pick([name, name.slice(0, 2), `${name},a`, "others,me", "1"]);
    runRemoteCommand(town, `:${random.pick(words)} ${random.isLucky(0.9) ? target : name}`);
    expectConsistent(tell(town));
  }
});

describe("time", () => {
  test("a week without a look is skipped rather than lived through", () => {
    const town = foundTown(PLAN, START_MS);
    const week = START_MS + 7 * 86_400_000;
    const begun = performance.now();
    advanceTown(town, week);
    expect(performance.now() - begun).toBeLessThan(500);
    const info = tell(town);
    expectConsistent(info);
    const oldestCall = Math.min(...info.EmergencyCalls.map(({ StartedAt = 0 }) => StartedAt));
    expect(oldestCall).toBeGreaterThanOrEqual(week / 1000 - CATCH_UP_SECONDS_MAX);
  });

  test("a clock that goes back changes nothing", () => {
    const town = foundTown(PLAN, START_MS);
    const before = JSON.stringify(tell(town));
    advanceTown(town, START_MS - 3_600_000);
    expect(JSON.stringify(tell(town))).toBe(before);
  });

  test("players move between two looks", () => {
    const town = foundTown(PLAN, START_MS);
    const before = new Map(tell(town).Players.map(({ Player, Location }) => [Player, Location]));
    advanceTown(town, START_MS + 5000);
    const moved = tell(town).Players.filter(({ Player, Location }) => {
      const old = before.get(Player);
      return old && (old.LocationX !== Location?.LocationX || old.LocationZ !== Location?.LocationZ);
    });
    expect(moved.length).toBeGreaterThan(5);
  });

  test("a town without players stays empty", () => {
    const town = foundTown({ ...PLAN, playersWanted: 0 }, START_MS);
    advanceTown(town, START_MS + 600_000);
    expect(tell(town).CurrentPlayers).toBe(0);
  });
});

test("sections that were not asked for are left out, and the order is that of the specification", () => {
  const town = foundTown(PLAN, START_MS);
  const base = [
    "Name",
    "OwnerId",
    "CoOwnerIds",
    "CurrentPlayers",
    "MaxPlayers",
    "JoinKey",
    "AccVerifiedReq",
    "TeamBalance",
  ];
  expect(Object.keys(tellTown(town, [], PLAIN))).toEqual(base);
  expect(Object.keys(tellTown(town, ["Vehicles", "Players"], PLAIN))).toEqual([
    ...base,
    "Players",
    "Vehicles",
  ]);
  expect(Object.keys(SectionSchemas)).toEqual([...SECTIONS]);
});
