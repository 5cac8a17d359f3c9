import { describe, expect, test } from "bun:test";
import type { EventResource } from "../../../core/wire/event.ts";
import { parseRingSettings, RING_AGE_MAX_MS, Rings, RUNG_MAX, rings } from "./rings.ts";

const NOW = 1_800_000_000_000;

function event(more: Partial<EventResource> = {}): EventResource {
  return { id: "c1", type: "modcall.opened", at: NOW, seen_at: NOW, source: "log", backfill: false, data: {}, ...more };
}

function alert(rule: string, events: readonly string[] = []): EventResource {
  return event({
    id: `alert ${rule}`,
    type: "alert.raised",
    data: { rule, subject: "Bob:2" },
    meta: { events } as never,
  });
}

describe("the page rings", () => {
  test("for new calls and raised alerts, each as its kind, and for nothing else", () => {
    const take = (given: EventResource) => new Rings().take(given, NOW);
    expect(take(event())).toBe("modcall");
    expect(take(event({ type: "call.opened" }))).toBe("call");
    expect(["kills", "mass_command", "offline", "unreachable", "players"].map((rule) => take(alert(rule)))).toEqual([
      "kills",
      "mass_command",
      "server",
      "server",
      "players",
    ]);
    for (const type of ["modcall.answered", "modcall.claimed", "alert.cleared", "call.closed", "gap"] as const) {
      expect(take(event({ type, data: { rule: "kills" } }))).toBeUndefined();
    }
    expect(take(alert("of a newer Gatehouse"))).toBeUndefined();
  });

  test("never for backfill, nor for what is older than a minute after a resume", () => {
    expect(new Rings().take(event({ backfill: true }), NOW)).toBeUndefined();
    expect(new Rings().take(event(), NOW + RING_AGE_MAX_MS)).toBe("modcall");
    expect(new Rings().take(event(), NOW + RING_AGE_MAX_MS + 1)).toBeUndefined();
  });

  test("once for a call and the alert that nobody answers it", () => {
    const heard = new Rings();
    expect(heard.take(event(), NOW)).toBe("modcall");
    expect(heard.take(alert("unanswered_modcall", ["c1"]), NOW)).toBeUndefined();
    // The page was opened after the second call.
    expect(heard.take(alert("unanswered_modcall", ["c2"]), NOW)).toBe("modcall");
    expect(heard.take(alert("unanswered_modcall", ["c2"]), NOW)).toBeUndefined();
  });

  test("as before when more calls have rung than are remembered", () => {
    const heard = new Rings();
    for (let id = 0; id <= RUNG_MAX; id++) expect(heard.take(event({ id: `c${id}` }), NOW)).toBe("modcall");
    expect(heard.take(event({ id: `c${RUNG_MAX}` }), NOW)).toBeUndefined();
    expect(heard.take(event({ id: "c0" }), NOW)).toBe("modcall");
  });
});

describe("what is stored", () => {
  test("nothing rings unless it says otherwise", () => {
    for (const text of [null, "", "{", "null", "7", '{"sound":"yes"}', '{"sound":{"isOn":1,"not":7}}']) {
      const settings = parseRingSettings(text);
      expect([rings(settings, "sound", "modcall"), rings(settings, "notification", "modcall")]).toEqual([false, false]);
    }
  });

  test("a switch turns on every kind but the number of players, and a kind can be left out of one way", () => {
    const settings = parseRingSettings('{"sound":true,"notification":{"isOn":true,"not":["kills","unknown"]}}');
    expect(rings(settings, "sound", "kills")).toBe(true);
    expect(rings(settings, "sound", "players")).toBe(false);
    expect(rings(settings, "notification", "kills")).toBe(false);
    expect(rings(settings, "notification", "players")).toBe(true);
  });
});
