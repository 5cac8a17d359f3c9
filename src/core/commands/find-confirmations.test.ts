// Which command an entry of the game's log confirms: at most one, and the same one however often the log is read.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { SentCommand } from "../ports/commands.ts";
import {
  type Confirmation,
  findConfirmations,
  isRemoteEntry,
  type LogEntry,
  mayHaveRemoteEntry,
} from "./find-confirmations.ts";

const NOW = 1_800_000_000_000;
const AT = NOW / 1000;

const sent = (commandId: string, text = ":h", afterMs = 0, loggedAt: number | null = null): SentCommand => ({
  commandId,
  sentBy: { kind: "key", id: "key_1", name: "bot" },
  text,
  sentAt: NOW + afterMs,
  loggedAt,
});
const logged = (Command: string, afterSeconds = 0, Player = "Remote Server"): LogEntry => ({
  Player,
  Timestamp: AT + afterSeconds,
  Command,
});
const idsOf = (found: readonly Confirmation[]) => found.map(({ commandId }) => commandId);

/** The commands as the store has them after one reading of the log. */
function read(commands: readonly SentCommand[], log: readonly LogEntry[]): SentCommand[] {
  const found = new Map(findConfirmations(commands, log).map((one) => [one.commandId, one.loggedAt]));
  return commands.map((one) => ({ ...one, loggedAt: one.loggedAt ?? found.get(one.commandId) ?? null }));
}

describe("an entry", () => {
  test("confirms the command with its text, with the time of the log", () => {
    expect(findConfirmations([sent("a", ":h hi")], [logged(":h hi", 2)])).toEqual([
      { commandId: "a", loggedAt: NOW + 2_000 },
    ]);
  });

  test.each([
    ["Remote Server", true],
    ["remote server", true],
    ["Remote Server:0", true],
    ["Remote Servers", false],
    ["A Remote Server", false],
    ["PlayerName:123", false],
    ["", false],
  ])("with the player %j confirms: %j", (player, isFound) => {
    expect(findConfirmations([sent("a")], [logged(":h", 0, player)])).toHaveLength(isFound ? 1 : 0);
  });

  test.each([
    [-6, false],
    [-5, true],
    [0, true],
    [60, true],
    [61, false],
  ])("%d s after sending confirms: %j", (seconds, isFound) => {
    expect(findConfirmations([sent("a")], [logged(":h", seconds)])).toHaveLength(isFound ? 1 : 0);
  });

  test("with another text or a missing field confirms nothing", () => {
    const log: LogEntry[] = [
      logged(":H"),
      logged(":h hi"),
      { Player: "Remote Server", Command: ":h" },
      { Player: "Remote Server", Timestamp: AT },
      { Timestamp: AT, Command: ":h" },
      {},
    ];
    expect(findConfirmations([sent("a")], log)).toEqual([]);
  });

  test("confirms one command, the older of two with the same text", () => {
    const commands = [sent("a", ":h", 0), sent("b", ":h", 5_000)];
    expect(idsOf(findConfirmations(commands, [logged(":h", 0)]))).toEqual(["a"]);
    expect(idsOf(findConfirmations(commands, [logged(":h", 0), logged(":h", 5)]))).toEqual(["a", "b"]);
  });

  test("confirms no other command when the log is read again", () => {
    const commands = [sent("a", ":h", 0), sent("b", ":h", 5_000)];
    const once = read(commands, [logged(":h", 0)]);
    expect(read(once, [logged(":h", 0)])).toEqual(once);
    const twice = read(once, [logged(":h", 5), logged(":h", 0)]);
    expect(twice.map((one) => one.loggedAt)).toEqual([NOW, NOW + 5_000]);
    expect(read(twice, [logged(":h", 5), logged(":h", 0)])).toEqual(twice);
  });

  test("of a confirmed command does not confirm the same text that was sent again", () => {
    const commands = [sent("a", ":h", 0, NOW + 1_000), sent("b", ":h", 5_000)];
    expect(findConfirmations(commands, [logged(":h", 1)])).toEqual([]);
    expect(idsOf(findConfirmations(commands, [logged(":h", 1), logged(":h", 1)]))).toEqual(["b"]);
  });

  test("is looked at a few times, however many commands were sent", () => {
    let looks = 0;
    const log = Array.from({ length: 500 }, (_, n) => ({
      ...logged(""),
      get Command() {
        looks++;
        return `:h ${n}`;
      },
    }));
    const commands = Array.from({ length: 500 }, (_, n) => sent(`c${n}`, `:h ${n + 250}`));
    expect(findConfirmations(commands, log)).toHaveLength(250);
    expect(looks).toBeLessThan(5_000);
  });

  test("confirms in whatever order the log is", () => {
    const commands = [sent("a", ":h", 0), sent("b", ":m", 5_000), sent("c", ":h", 10_000)];
    const log = [logged(":h", 10), logged(":m", 5), logged(":h", 0)];
    const expected = [
      { commandId: "a", loggedAt: NOW },
      { commandId: "b", loggedAt: NOW + 5_000 },
      { commandId: "c", loggedAt: NOW + 10_000 },
    ];
    expect(findConfirmations(commands, log)).toEqual(expected);
    expect(findConfirmations(commands, log.toReversed())).toEqual(expected);
  });
});

test("over any readings, no entry confirms two commands and no command changes its confirmation", () => {
  const text = fc.constantFrom(":h", ":m", ":kick all");
  const entry = fc.record({ text, second: fc.integer({ min: -10, max: 90 }) });
  const command = fc.record({ text, second: fc.integer({ min: 0, max: 60 }) });
  const window = fc.tuple(fc.nat(12), fc.nat(12));
  fc.assert(
    fc.property(
      fc.array(command, { maxLength: 8 }),
      fc.array(entry, { maxLength: 12 }),
      fc.array(window, { maxLength: 5 }),
      (commands, entries, windows) => {
        // The whole log, oldest first. Each reading shows a part of it, newest first.
        const log = entries.toSorted((a, b) => a.second - b.second).map((one) => logged(one.text, one.second));
        let known = commands
          .toSorted((a, b) => a.second - b.second)
          .map((one, index) => sent(String(index), one.text, one.second * 1000));
        for (const [from, length] of windows) {
          const before = known;
          known = read(known, log.slice(from, from + length).toReversed());
          for (const [index, one] of before.entries()) {
            if (one.loggedAt !== null) expect(known[index]?.loggedAt).toBe(one.loggedAt);
          }
        }
        for (const { text, loggedAt } of known) {
          if (loggedAt === null) continue;
          const confirmed = known.filter((one) => one.loggedAt === loggedAt && one.text === text).length;
          const matching = log.filter((one) => (one.Timestamp ?? 0) * 1000 === loggedAt && one.Command === text);
          expect(confirmed).toBeLessThanOrEqual(matching.length);
        }
      },
    ),
    { numRuns: 1_000 },
  );
});

describe("the text of a log", () => {
  const players = ["Remote Server", "remote SERVER:0", "REMOTE SERVER:", "Remote Serverx", "A Remote Server", "Ann:1"];

  test.each(players)("with %j is searched if that is the game's API, and whatever stands around it", (player) => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (Command, other) => {
        const entries = [logged(other, 0, other), logged(Command, 1, player)];
        if (entries.some(isRemoteEntry)) expect(mayHaveRemoteEntry(JSON.stringify(entries))).toBe(true);
      }),
    );
    const entry = logged(":h", 0, player);
    expect(mayHaveRemoteEntry(JSON.stringify([entry]))).toBe(isRemoteEntry(entry));
  });

  test("without entries is not searched", () => {
    expect(mayHaveRemoteEntry("[]")).toBe(false);
  });
});
