// What the recorder writes of history beside the events, when two instances record the same server and when the archive is away.
import { beforeEach, expect, test } from "bun:test";
import { EVENT_AT, MemoryArchive } from "../../../test/event-archive.ts";
import { BASE_INFO } from "../../../test/fake-game-api.ts";
import { logEntry, shownPlayer } from "../../../test/judged-server.ts";
import { StoreUnavailable } from "../../core/errors.ts";
import { WAITING_MINUTES_MAX } from "../../core/history/judge-history.ts";
import type { LedgerRecord } from "../../core/ports/archive.ts";
import { EventRecorder } from "./event-recorder.ts";

const SERVER = "srv_a";

/** Notes what was recorded. */
class NotingArchive extends MemoryArchive {
  readonly recorded: LedgerRecord[] = [];

  override async record(records: readonly LedgerRecord[]) {
    const outcomes = await super.record(records);
    this.recorded.push(...records.filter((_, index) => "version" in (outcomes[index] ?? {})));
    return outcomes;
  }
}

let archive: NotingArchive;
let now: number;
beforeEach(() => {
  archive = new NotingArchive();
  now = EVENT_AT;
});

function open(): EventRecorder {
  return new EventRecorder({
    archive,
    clock: () => now,
    sleep: () => new Promise<void>(() => {}),
    log: { debug() {}, info() {}, warn() {}, error() {} },
    hash: (text) => text,
    commands: { listSent: async () => [] },
    planOf: () => ({ isWatched: true, intervalMs: 5_000 }),
  });
}

/** Reads at that second: who is there, with a log of who joined (`+3 Ann:1`) and left, and one command in each second so far. */
async function read(recorder: EventRecorder, second: number, players: string[], log: string[]): Promise<void> {
  now = EVENT_AT + second * 1_000;
  const JoinLogs = log.map((text) => {
    const [, sign, at, player] = /^([+-])(\d+) (.*)$/.exec(text) ?? [];
    return logEntry(Number(at), player ?? "", sign === "+");
  });
  const CommandLogs = Array.from({ length: second + 1 }, (_, n) => {
    return { Player: "Mod:7", Timestamp: EVENT_AT / 1000 + n, Command: `:h ${n}` };
  });
  const sections = {
    Players: players.map((player) => shownPlayer(player)),
    JoinLogs: JoinLogs.toReversed(),
    CommandLogs: CommandLogs.toReversed(),
  };
  const settings = { ...BASE_INFO, CurrentPlayers: players.length };
  recorder.takeReading(SERVER, { at: now, gameServer: "g", settings, sections, offline: null });
  await recorder.flush();
}

const sessions = () => {
  const second = (time: number) => (time - EVENT_AT) / 1000;
  return archive.recorded.flatMap(({ history }) =>
    history.sessions.map(({ name, joinedAt, leftAt, ended }) => {
      return `${name} ${second(joinedAt)}-${second(leftAt)} ${ended}`;
    }),
  );
};
const minutes = () => archive.recorded.flatMap(({ history }) => history.minutes);
const acts = () => archive.recorded.flatMap(({ history }) => history.acts);
const openSessions = async () => {
  const { memory } = await archive.load(SERVER);
  return Array.from(memory.sessions.values(), ({ name, joinedAt }) => `${name} ${(joinedAt - EVENT_AT) / 1000}-`);
};

test("readings that waited and are judged again, because another instance recorded first, count once", async () => {
  const [first, second] = [open(), open()];
  await read(first, 1, ["Ann:1"], ["+0 Ann:1"]);
  await read(second, 2, ["Ann:1"], ["+0 Ann:1"]);
  archive.fault = new StoreUnavailable("away");
  await read(first, 3, ["Ann:1"], ["+0 Ann:1"]);
  await read(second, 4, [], ["+0 Ann:1", "-4 Ann:1"]);
  await read(second, 70, ["Bob:2"], ["+0 Ann:1", "-4 Ann:1", "+66 Bob:2"]);
  archive.fault = undefined;
  await first.flush();
  await second.flush();
  expect(sessions()).toEqual(["Ann 0-4 log"]);
  expect(await openSessions()).toEqual(["Bob 66-"]);
  expect(minutes().map(({ at, knownMs, playerMs }) => [at - EVENT_AT, knownMs, playerMs])).toEqual([
    [0, 59_000, 3_000],
  ]);
  const counted = acts().map(({ at }) => (at - EVENT_AT) / 1000);
  expect(counted.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 71 }, (_, n) => n));
});

test("with more readings than are held, sessions end with a gap and no command is lost or counted twice", async () => {
  const [first, second] = [open(), open()];
  await read(first, 1, ["Ann:1"], ["+0 Ann:1"]);
  await read(second, 2, ["Ann:1"], ["+0 Ann:1"]);
  archive.fault = new StoreUnavailable("away");
  await read(first, 3, ["Ann:1"], ["+0 Ann:1"]);
  for (let n = 4; n < 16; n++) {
    const there = n < 8 ? ["Ann:1"] : ["Bob:2"];
    const log = n < 8 ? ["+0 Ann:1"] : ["+0 Ann:1", "-7 Ann:1", "+7 Bob:2"];
    await read(second, n, there, log);
  }
  archive.fault = undefined;
  await first.flush();
  await second.flush();
  expect(sessions()).toEqual(["Ann 0-3 gap"]);
  expect(await openSessions()).toEqual(["Bob 11-"]);
  // An act of an event that the archive has already is left out with it.
  const identities = acts().map(({ identity }) => identity);
  expect(new Set(identities).size).toBe(16);
  for (const { events, history } of archive.recorded) {
    const told = new Set(events.map(({ identity }) => identity));
    for (const { identity } of history.acts) expect(told.has(identity ?? "")).toBe(true);
  }
});

test("while the archive is away a limited number of minutes waits, the oldest of them", async () => {
  const recorder = open();
  await read(recorder, 0, ["Ann:1"], []);
  archive.fault = new StoreUnavailable("away");
  for (let minute = 1; minute <= WAITING_MINUTES_MAX + 20; minute++) {
    now = EVENT_AT + minute * 60_000;
    const about = { at: now, gameServer: "g", settings: BASE_INFO, offline: null };
    recorder.takeReading(SERVER, { ...about, sections: { Players: [shownPlayer("Ann:1")] } });
    await recorder.flush();
  }
  archive.fault = undefined;
  await recorder.flush();
  const told = minutes().map(({ at }) => (at - EVENT_AT) / 60_000);
  expect(told).toEqual(Array.from({ length: WAITING_MINUTES_MAX }, (_, n) => n));
});

test("an entry that was not shown for long and comes back neither begins a session nor counts as a command again", async () => {
  const recorder = open();
  await read(recorder, 30, [], ["+0 Ann:1", "-1 Ann:1"]);
  const show = async (CommandLogs: object[], JoinLogs: object[]) => {
    now += 5_000;
    const about = { at: now, gameServer: "g", settings: BASE_INFO, offline: null };
    recorder.takeReading(SERVER, { ...about, sections: { Players: [], JoinLogs, CommandLogs } });
    await recorder.flush();
  };
  const command = (second: number) => {
    return { Player: "Mod:7", Timestamp: EVENT_AT / 1000 + second, Command: `:h ${second}` };
  };
  const old = Array.from({ length: 31 }, (_, n) => command(30 - n));
  const newer = [command(31)];
  const [oldLog, newerLog] = [[logEntry(1, "Ann:1", false), logEntry(0, "Ann:1")], [logEntry(2, "Bob:2", false)]];
  await show([...newer, ...old], [...newerLog, ...oldLog]);
  for (let n = 0; n < 200; n++) await show(newer, newerLog);
  const counted = acts().length;
  await show([...newer, ...old], [...newerLog, ...oldLog]);
  expect(acts()).toHaveLength(counted);
  expect(sessions()).toEqual(["Ann 0-1 log"]);
  expect(await openSessions()).toEqual([]);
});
