import { describe, expect, test } from "bun:test";
import { parseTypes } from "../../../core/events/event-types.ts";
import { toSectionSet } from "../../../core/sections.ts";
import type { EventResource } from "../../../core/wire/event.ts";
import { listLedgerEntries, sectionOfKind, writeKinds } from "./ledger-entries.ts";
import { KINDS } from "./time-line.ts";

let made = 0;
function make(type: EventResource["type"], at: number, data: EventResource["data"]): EventResource {
  return { id: `c${++made}`, type, at, seen_at: at, source: "log", backfill: false, data };
}

const CALL = { Caller: "Bob:7", Timestamp: 20 };

describe("the entries of a ledger", () => {
  test("hold a call and its answer once, at the time of the call", () => {
    const opened = make("modcall.opened", 20_000, { ...CALL, Moderator: null });
    const answered = make("modcall.answered", 90_000, { ...CALL, Moderator: "Mia:8" });
    const left = make("player.left", 50_000, { Player: "Bob:7" });
    const whole = listLedgerEntries([answered, left, opened]);
    expect(whole).toMatchObject([
      { kind: "leave", at: 50_000 },
      { kind: "modCall", at: 20_000, player: "Bob:7", other: "Mia:8" },
    ]);
    // The call itself may be on a page that is not loaded yet.
    expect(listLedgerEntries([answered])).toMatchObject([{ kind: "modCall", at: 20_000, other: "Mia:8" }]);
  });

  test("hold equal calls of one second as often as they were made", () => {
    const open = () => make("modcall.opened", 20_000, { ...CALL, Moderator: null });
    const answered = make("modcall.answered", 90_000, { ...CALL, Moderator: "Mia:8" });
    expect(listLedgerEntries([answered, open(), open()])).toHaveLength(2);
    expect(listLedgerEntries([open(), open()])).toHaveLength(2);
  });

  test("have a gap below the oldest entry that was read after it", () => {
    const gap = make("gap", 99_000, { section: "KillLogs", reason: "no_overlap", from: 10_000, to: 40_000 });
    const kill = (at: number) => make("player.killed", at, { Killed: "Bob:7" });
    const kinds = listLedgerEntries([kill(60_000), kill(40_000), gap, kill(10_000)]).map(({ kind }) => kind);
    expect(kinds).toEqual(["kill", "kill", "gap", "kill"]);
  });

  test("leave out what is no log entry, whatever the data is", () => {
    expect(listLedgerEntries([make("server.online", 1, {}), make("queue.changed", 1, { Queue: [] })])).toEqual([]);
    expect(listLedgerEntries([make("player.killed", 1, { Killer: 5, Killed: null })])).toMatchObject([
      { kind: "kill", player: undefined, other: undefined },
    ]);
  });

  test("are asked for with types that the section of each kind allows", () => {
    expect(writeKinds([])).toBeUndefined();
    for (const kind of KINDS) {
      const section = sectionOfKind(kind);
      expect(parseTypes(writeKinds([kind]), toSectionSet(section ? [section] : []))).toHaveProperty("filter");
    }
  });
});
