import { describe, expect, test } from "bun:test";
import type { EventResource } from "../../core/wire/event.ts";
import { parseAlertSettings } from "./alert-settings.ts";
import { ALERT_AGE_MAX_MS, findAlertType } from "./call-alerts.ts";
import { keyOfCall } from "./mod-calls.ts";

const NOW = 1_800_000_000_000;
const NONE = new Map<string, number>();

function event(more: Partial<EventResource> = {}): EventResource {
  return {
    id: "c1",
    type: "modcall.opened",
    at: NOW,
    seen_at: NOW,
    source: "log",
    backfill: false,
    data: {},
    ...more,
  };
}

describe("an alert", () => {
  test("comes for new calls only", () => {
    expect(findAlertType(event(), NOW, NONE)).toBe("modcall.opened");
    expect(findAlertType(event({ type: "call.opened" }), NOW, NONE)).toBe("call.opened");
    for (const type of ["modcall.answered", "call.changed", "call.closed", "player.joined", "gap"] as const) {
      expect(findAlertType(event({ type }), NOW, NONE)).toBeUndefined();
    }
  });

  test("never comes for backfill, nor for what is older than a minute after a resume", () => {
    expect(findAlertType(event({ backfill: true }), NOW, NONE)).toBeUndefined();
    expect(findAlertType(event(), NOW + ALERT_AGE_MAX_MS, NONE)).toBe("modcall.opened");
    expect(findAlertType(event(), NOW + ALERT_AGE_MAX_MS + 1, NONE)).toBeUndefined();
  });

  test("never comes for a call that is marked as seen, but for a later call of the same player", () => {
    const call = { Caller: "Ann:7", Moderator: null, Timestamp: 1_800_000_000 };
    const seen = new Map([[keyOfCall(call), NOW]]);
    expect(findAlertType(event({ data: call }), NOW, seen)).toBeUndefined();
    expect(findAlertType(event({ data: call }), NOW, NONE)).toBe("modcall.opened");
    const later = { ...call, Timestamp: call.Timestamp + 60 };
    expect(findAlertType(event({ data: later }), NOW, seen)).toBe("modcall.opened");
  });
});

test("alerts are off unless the stored settings say otherwise", () => {
  const off = { sound: false, notification: false };
  for (const text of [null, "", "{", "null", "7", '{"sound":"yes"}']) {
    expect(parseAlertSettings(text)).toEqual(off);
  }
  expect(parseAlertSettings('{"sound":true}')).toEqual({ ...off, sound: true });
});
