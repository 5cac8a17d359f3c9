import { describe, expect, test } from "bun:test";
import { EVENT_TYPES } from "../../../core/events/event-types.ts";
import type { EventResource } from "../../../core/wire/event.ts";
import { activity as en } from "../../locales/en/events.ts";
import { activity as ru } from "../../locales/ru/events.ts";
import { describeEvent, listPlayers, readGap } from "./describe-event.ts";

function make(type: string, data: unknown, meta?: Record<string, unknown>): EventResource {
  return {
    id: "c1",
    // A newer Gatehouse may send types that this page does not know.
    type: type as EventResource["type"],
    at: 1000,
    seen_at: 2000,
    source: "log",
    backfill: false,
    data: data as EventResource["data"],
    ...(meta && { meta }),
  };
}

describe("the description of an event", () => {
  test("names killer and victim, and says when nobody is the killer", () => {
    const kill = make("player.killed", { Killer: "A:b:1", Killed: "C:2" });
    expect(describeEvent(kill)).toEqual([
      { kind: "player", player: { name: "A:b", id: "1" } },
      { kind: "word", word: "killed" },
      { kind: "player", player: { name: "C", id: "2" } },
    ]);
    expect(describeEvent(make("player.killed", { Killed: "C:2" }))[0]).toEqual({ kind: "word", word: "noKiller" });
  });

  test("tells each changed field with the value before and now", () => {
    const change = make(
      "player.changed",
      { Player: "A:1", Team: "Police", Callsign: "1D-5", WantedStars: 0 },
      { before: { Team: "Civilian", Callsign: null } },
    );
    expect(describeEvent(change).slice(1)).toEqual([
      { kind: "change", field: "Team", before: "Civilian", now: "Police" },
      { kind: "change", field: "Callsign", before: "", now: "1D-5" },
    ]);
  });

  test("tells a custom command as it was typed, and what a message of an unknown kind says", () => {
    const command = make("custom.command", { Command: "bolo", Argument: "White sedan", Player: "77" });
    expect(describeEvent(command)).toEqual([
      { kind: "player", player: { name: "", id: "77" } },
      { kind: "code", text: ";bolo White sedan" },
    ]);
    const bare = make("custom.command", { Command: "panic", Argument: "", Player: "77" });
    expect(describeEvent(bare)[1]).toEqual({ kind: "code", text: ";panic" });
    expect(describeEvent(make("custom.unknown", { Event: "Weather", Data: { rain: true } }))).toEqual([
      { kind: "code", text: "Weather" },
      { kind: "text", text: '{"rain":true}' },
    ]);
    expect(describeEvent(make("custom.unknown", { Event: "Weather", Data: null }))).toHaveLength(1);
  });

  test("keeps all digits of an id, and links to it only when it is one", () => {
    const added = make("staff.added", { Role: "Admins", UserId: "9007199254740993", Name: "A" });
    expect(listPlayers(added)).toEqual([{ name: "A", id: "9007199254740993" }]);
    expect(listPlayers(make("staff.added", { Role: "Admins", UserId: "../x", Name: "A" }))).toEqual([]);
    expect(listPlayers(make("command.used", { Player: "Remote Server", Command: ":h" }))).toEqual([]);
  });

  test("never fails, whatever the data is", () => {
    const odd = [{}, null, [], "text", { Player: 5, Killed: {}, Queue: 7, CallNumber: [1], Owner: 3 }];
    for (const type of [...EVENT_TYPES, "something.new", "__proto__"]) {
      for (const data of odd) {
        const event = make(type, data, { before: 5, changed: {} } as Record<string, unknown>);
        expect(Array.isArray(describeEvent(event))).toBe(true);
        expect(Array.isArray(listPlayers(event))).toBe(true);
      }
    }
  });

  test("leaves the sentence of an alert to what says it in the user's language", () => {
    const facts = { rule: "kills", subject: "Bob:2", text: "Bob killed 5 players within 60 seconds." };
    const words = { code: "kills", values: { count: 5, seconds: 60 } };
    expect(describeEvent(make("alert.raised", facts, words))).toEqual([{ kind: "alert", ...facts, ...words }]);
    expect(describeEvent(make("alert.cleared", null))).toEqual([
      { kind: "alert", rule: "", subject: "", text: "", code: "", values: {} },
    ]);
  });

  test("shows the type of an event that the page does not know", () => {
    expect(describeEvent(make("something.new", {}))).toEqual([{ kind: "code", text: "something.new" }]);
  });

  test.each([
    ["English", en],
    ["Russian", ru],
  ])("has a name for every type in %s", (_, texts) => {
    const names = Object.keys(texts.type);
    expect(names.toSorted()).toEqual(
      EVENT_TYPES.filter((type) => type !== "gap")
        .map((type) => type.replace(".", "_"))
        .toSorted(),
    );
    expect(new Set(Object.values(texts.type)).size).toBe(names.length);
  });
});

describe("a gap", () => {
  test("says why, of what and for which time", () => {
    const gap = make("gap", { section: "KillLogs", reason: "no_overlap", from: 5, to: null });
    expect(readGap(gap)).toEqual({ reason: "no_overlap", section: "KillLogs", from: 5, to: undefined });
  });

  test("with a reason that the page does not know is still a gap", () => {
    expect(readGap(make("gap", { reason: "meteor" }))).toMatchObject({ reason: "other", section: "*" });
    expect(readGap(make("player.left", {}))).toBeUndefined();
  });
});
