// A town is repeatable, has a past at the first read, and is always consistent.
import { describe, expect, test } from "bun:test";
import { Compile } from "typebox/compile";
import { repeat } from "../../test/long.ts";
import { timeProcessor } from "../../test/processor-time.ts";
import { SECTIONS } from "../core/sections.ts";
import { SectionSchemas, ServerInfo } from "../core/wire/server-info.ts";
import { buildServerInfo } from "./build-server-info.ts";
import { runRemoteCommand } from "./commands.ts";
import { LOG_LISTS } from "./log-lists.ts";
import { chooseQuirks } from "./quirks.ts";
import { Random } from "./random.ts";
import { listPlayers, type Town } from "./town.ts";
import { advanceTown, CATCH_UP_SECONDS_MAX, createTown, type TownPlan } from "./town-registry.ts";

// A slow machine under load needs longer than the usual five seconds for thousands of reads.
const START_MS = 1_800_000_000_000;
const READS = repeat({ usual: 2_000, long: 10_000 });
const TOWNS = repeat({ usual: 40, long: 100 });
const PLAN: TownPlan = {
  seed: 1,
  serverId: "demo",
  playersWanted: 24,
  maxPlayers: 24,
  speed: 1,
  logWindow: 50,
};
const PLAIN = chooseQuirks(false);
const QUIRKY = chooseQuirks(true);
const ServerInfoCheck = Compile(ServerInfo);

const build = (town: Town, quirks = PLAIN) =>
  buildServerInfo(town, SECTIONS, quirks) as unknown as Required<ServerInfo>;
const idOf = (ref: string | undefined) => Number(ref?.slice(ref.lastIndexOf(":") + 1));

function expectConsistent(info: Required<ServerInfo>): void {
  const online = new Set(info.Players.map(({ Player }) => Player));
  const onlineIds = new Set([...online].map(idOf));
  const queue = new Set(info.Queue);
  const latest = new Map<string, boolean>();
  for (const { Player = "", Join = false } of info.JoinLogs) if (!latest.has(Player)) latest.set(Player, Join);
  const contradictions = [...latest].filter(([player, isIn]) => online.has(player) !== isIn);
  const isSorted = info.JoinLogs.every(
    ({ Timestamp = 0 }, i) => i === 0 || (info.JoinLogs[i - 1]?.Timestamp ?? 0) >= Timestamp,
  );
  const facts = {
    count: info.CurrentPlayers === info.Players.length && onlineIds.size === info.Players.length,
    room: info.CurrentPlayers <= info.MaxPlayers,
    queueOnlyWhenFull: info.Queue.length === 0 || info.CurrentPlayers === info.MaxPlayers,
    queueOfDistinctOutsiders: queue.size === info.Queue.length && info.Queue.every((id) => !onlineIds.has(id)),
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

/** The schemas make every nested field optional, so this checks that all are present. */
function findIncomplete(info: Required<ServerInfo>): unknown[] {
  const elements = Object.entries(ELEMENT_FIELDS).flatMap(([section, count]) =>
    info[section as "Players"].filter((element) => Object.keys(element).length !== count),
  );
  const locations = info.Players.filter(({ Location }) => Object.keys(Location ?? {}).length !== 5);
  return [...elements, ...locations];
}

describe("repeatability", () => {
  test("the same seed, server and times give the same town, byte for byte", () => {
    const first = createTown(PLAN, START_MS);
    const second = createTown(PLAN, START_MS);
    for (let minute = 0; minute < 30; minute++) {
      advanceTown(first, START_MS + minute * 60_000);
      advanceTown(second, START_MS + minute * 60_000);
      expect(JSON.stringify(build(first, QUIRKY))).toBe(JSON.stringify(build(second, QUIRKY)));
    }
  });

  test("reading more often does not change what happens", () => {
    const rarely = createTown(PLAN, START_MS);
    const often = createTown(PLAN, START_MS);
    advanceTown(rarely, START_MS + 600_000);
    for (let ms = 0; ms <= 600_000; ms += 700) advanceTown(often, START_MS + ms);
    advanceTown(often, START_MS + 600_000);
    expect(build(often)).toEqual(build(rarely));
  });

  test("another seed or another server gives another town", () => {
    const names = [PLAN, { ...PLAN, seed: 2 }, { ...PLAN, serverId: "other" }].map((plan) =>
      JSON.stringify(build(createTown(plan, START_MS)).Players),
    );
    expect(new Set(names).size).toBe(3);
  });
});

describe("the first read", () => {
  test("with nearly every seed none of the nine sections is empty", () => {
    const bare = Array.from({ length: TOWNS }, (_, seed) => build(createTown({ ...PLAN, seed }, START_MS))).filter(
      (info) => SECTIONS.some((section) => Object.keys(info[section]).length === 0),
    );
    expect(bare.length / TOWNS).toBeLessThanOrEqual(0.03);
  });

  test("no timestamp is in the future, and the oldest is less than an hour old", () => {
    const info = build(createTown(PLAN, START_MS));
    const times = [...info.JoinLogs, ...info.KillLogs, ...info.CommandLogs, ...info.ModCalls].map(
      (log) => log.Timestamp ?? 0,
    );
    times.push(...info.EmergencyCalls.map(({ StartedAt = 0 }) => StartedAt));
    expect(Math.max(...times)).toBeLessThanOrEqual(START_MS / 1000);
    expect(Math.min(...times)).toBeGreaterThan(START_MS / 1000 - 3600);
  });

  test.each([1, 2, 5, 100])("a town for %i players is consistent", (players) => {
    const info = build(createTown({ ...PLAN, playersWanted: players, maxPlayers: players }, START_MS));
    expectConsistent(info);
    expect(info.CurrentPlayers).toBeGreaterThan(0);
  });
});

describe("thousands of reads at high speed", () => {
  test("each validates against the schemas, is complete and consistent", () => {
    const town = createTown({ ...PLAN, speed: 15 }, START_MS);
    const seen = {
      queue: 0,
      free: 0,
      jailed: 0,
      wanted: 0,
      responded: 0,
      answeredCalls: 0,
      teams: new Set<string>(),
    };
    for (let read = 0; read < READS; read++) {
      advanceTown(town, START_MS + read * 1000);
      const info = build(town);
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
    expect(Math.min(seen.queue, seen.free)).toBeGreaterThan(READS / 10);
    expect(Math.min(seen.wanted, seen.responded, seen.answeredCalls)).toBeGreaterThan(READS / 10);
    expect([...seen.teams].sort()).toEqual(["Civilian", "DOT", "Fire", "Jail", "Police", "Sheriff"]);
  });

  test("logs stay within their limits, and quirks keep the town consistent", () => {
    const town = createTown({ ...PLAN, serverId: "windows", speed: 100 }, START_MS);
    for (let read = 0; read < repeat({ usual: 150, long: 500 }); read++) {
      advanceTown(town, START_MS + read * 2000);
      const info = build(town, QUIRKY);
      expectConsistent(info);
      expect(info.JoinLogs.length).toBeLessThanOrEqual(50);
      expect(info.EmergencyCalls.length).toBeLessThanOrEqual(12);
    }
    expect(town.logs.newest("JoinLogs").length).toBe(50);
    expect(town.logs.newest("KillLogs").length).toBe(50);
    expect(town.logs.newest("CommandLogs").length).toBe(50);
    expect(town.logs.newest("ModCalls").length).toBe(50);
  });
});

describe("two hours", () => {
  /** How often two readings in a row, ten seconds apart, differ. */
  function countChanges(town: Town): Record<string, number> {
    const changes: Record<string, number> = {};
    const count = (name: string, didHappen: boolean) => {
      changes[name] = (changes[name] ?? 0) + (didHappen ? 1 : 0);
    };
    let before = build(town);
    for (let second = 10; second <= 7200; second += 10) {
      advanceTown(town, START_MS + (second * 1000) / town.speed);
      const now = build(town);
      const keyOf = (call: Required<ServerInfo>["EmergencyCalls"][number]) =>
        `${call.Team} ${call.CallNumber} ${call.StartedAt}`;
      const callsBefore = new Map(before.EmergencyCalls.map((call) => [keyOf(call), call]));
      const callsNow = new Map(now.EmergencyCalls.map((call) => [keyOf(call), call]));
      count(
        "call opened",
        [...callsNow.keys()].some((key) => !callsBefore.has(key)),
      );
      count(
        "call closed",
        [...callsBefore.keys()].some((key) => !callsNow.has(key)),
      );
      count(
        "responder joined",
        [...callsNow].some(([key, { Players = [] }]) => Players.length > (callsBefore.get(key)?.Players?.length ?? 99)),
      );
      const playersBefore = new Map(before.Players.map((player) => [player.Player, player]));
      for (const field of ["Team", "Callsign", "Permission", "WantedStars"] as const) {
        count(
          field,
          now.Players.some((player) => {
            const old = playersBefore.get(player.Player);
            return old !== undefined && old[field] !== player[field];
          }),
        );
      }
      for (const section of ["Vehicles", "Queue", "Staff", ...LOG_LISTS] as const)
        count(section, JSON.stringify(before[section]) !== JSON.stringify(now[section]));
      count("moderator answered", countAnswered(now) > countAnswered(before));
      before = now;
    }
    return changes;
  }
  const countAnswered = ({ ModCalls }: Required<ServerInfo>) =>
    ModCalls.filter(({ Moderator }) => Moderator !== null).length;

  test.each([1, 60])("at speed %i everything that a client can see changes", (speed) => {
    const changes = countChanges(createTown({ ...PLAN, speed }, START_MS));
    expect(Object.entries(changes).filter(([, times]) => times < 3)).toEqual([]);
  });

  test("the staff never runs out and never outgrows the town", () => {
    const town = createTown({ ...PLAN, speed: 900 }, START_MS);
    for (let second = 0; second < repeat({ usual: 40, long: 200 }); second++) {
      advanceTown(town, START_MS + second * 1000);
      const { Admins = {}, Mods = {}, Helpers = {} } = build(town).Staff;
      expect(Object.keys(Admins).length).toBeGreaterThan(0);
      const size = Object.keys({ ...Mods, ...Helpers }).length;
      expect(size).toBeGreaterThanOrEqual(2);
      expect(size).toBeLessThanOrEqual(13);
    }
  });
});

test("no sequence of commands makes the town inconsistent", () => {
  const random = new Random(5);
  const town = createTown({ ...PLAN, serverId: "commands", speed: 10 }, START_MS);
  const words = "kick ban unban kill wanted jail unjail tp respawn mod unmod admin helper startfire stopfire".split(
    " ",
  );
  for (let i = 0; i < repeat({ usual: 1_000, long: 10_000 }); i++) {
    advanceTown(town, START_MS + i * 1000);
    const name = random.find(listPlayers(town))?.profile.name ?? "nobody";
    const target = random.chance(0.02) ? "all" : random.pick([name, name.slice(0, 2), `${name},a`, "others,me", "1"]);
    runRemoteCommand(town, `:${random.pick(words)} ${random.chance(0.9) ? target : name}`);
    expectConsistent(build(town));
  }
});

describe("time", () => {
  test("a week without a read is skipped rather than simulated", () => {
    const town = createTown(PLAN, START_MS);
    const week = START_MS + 7 * 86_400_000;
    const spentMs = timeProcessor();
    advanceTown(town, week);
    expect(spentMs()).toBeLessThan(500);
    const info = build(town);
    expectConsistent(info);
    const oldestCall = Math.min(...info.EmergencyCalls.map(({ StartedAt = 0 }) => StartedAt));
    expect(oldestCall).toBeGreaterThanOrEqual(week / 1000 - CATCH_UP_SECONDS_MAX);
  });

  test("a clock that is set back changes nothing", () => {
    const town = createTown(PLAN, START_MS);
    const before = JSON.stringify(build(town));
    advanceTown(town, START_MS - 3_600_000);
    expect(JSON.stringify(build(town))).toBe(before);
  });

  test("players move between two reads", () => {
    const town = createTown(PLAN, START_MS);
    const before = new Map(build(town).Players.map(({ Player, Location }) => [Player, Location]));
    advanceTown(town, START_MS + 5000);
    const moved = build(town).Players.filter(({ Player, Location }) => {
      const old = before.get(Player);
      return old && (old.LocationX !== Location?.LocationX || old.LocationZ !== Location?.LocationZ);
    });
    expect(moved.length).toBeGreaterThan(5);
  });

  test("a town without players stays empty", () => {
    const town = createTown({ ...PLAN, playersWanted: 0 }, START_MS);
    advanceTown(town, START_MS + 600_000);
    expect(build(town).CurrentPlayers).toBe(0);
  });
});

test("only requested sections are present, in the order of the specification", () => {
  const town = createTown(PLAN, START_MS);
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
  expect(Object.keys(buildServerInfo(town, [], PLAIN))).toEqual(base);
  expect(Object.keys(buildServerInfo(town, ["Vehicles", "Players"], PLAIN))).toEqual([...base, "Players", "Vehicles"]);
  expect(Object.keys(SectionSchemas)).toEqual([...SECTIONS]);
});
