// What is hidden from a key is in nothing that it reads, whatever the names around it are; everything else stays as it was.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { toEventKind } from "../events/event-types.ts";
import { HIDES_JOIN_KEY, HIDES_LOCATION } from "../keys/rights.ts";
import type { LedgerEvent } from "../ports/archive.ts";
import { SECTIONS } from "../sections.ts";
import { hideInEvent, hideInParts } from "./hide-fields.ts";

const BOTH = HIDES_JOIN_KEY | HIDES_LOCATION;
const EVENT: LedgerEvent = {
  ...{ number: 7, mark: 3, at: 1, seenAt: 1, source: "diff", isBackfill: false },
  kind: toEventKind("server.changed"),
  data: '{"Name":"Town","OwnerId":1234567890123456789,"JoinKey":"OliveComet"}',
  meta: '{"before":{"Name":"City","JoinKey":"RedStar"}}',
};

describe("a change of the server", () => {
  test("has no join key, neither the new nor the old one", () => {
    expect(hideInEvent(EVENT, HIDES_JOIN_KEY)).toEqual({
      ...EVENT,
      data: '{"Name":"Town","OwnerId":1234567890123456789,"JoinKey":""}',
      meta: '{"before":{"Name":"City"}}',
    });
    expect(hideInEvent(EVENT, HIDES_LOCATION)).toBe(EVENT);
  });

  test("is not theirs when only the join key changed", () => {
    expect(hideInEvent({ ...EVENT, meta: '{"before":{"JoinKey":"RedStar"}}' }, BOTH)).toBeUndefined();
  });
});

describe("an event of the game that is not known", () => {
  const unknown = (data: string) => ({ ...EVENT, kind: toEventKind("custom.unknown"), data, meta: null });

  test("has neither field at any depth, in any case", () => {
    const event = unknown(
      '{"Event":"New","Data":{"joinKey":"a","players":[{"location":{"x":1},"LOCATION":2,"z":1.0}]}}',
    );
    expect(hideInEvent(event, BOTH)?.data).toBe('{"Event":"New","Data":{"joinKey":"","players":[{"z":1.0}]}}');
  });

  test("has no data when it was cut and may have one of them", () => {
    const cut = unknown(JSON.stringify({ Event: "New", Data: '{"a":[{"location":{"x":' }));
    expect(hideInEvent(cut, HIDES_LOCATION)?.data).toBe('{"Event":"New","Data":null}');
    expect(hideInEvent(cut, HIDES_JOIN_KEY)?.data).toBe(cut.data);
  });
});

test("whatever players are called, only their location goes", () => {
  const text = fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom('","Location":{"', '\\"JoinKey\\":\\"', "\\"));
  const player = fc.record({ Player: text, Callsign: fc.option(text), WantedStars: fc.integer() });
  fc.assert(
    fc.property(fc.array(player), text, fc.boolean(), (players, name, isFirst) => {
      const Location = { LocationX: 1, StreetName: "Secret Street" };
      const shown = players.map((one) => (isFirst ? { Location, ...one } : { ...one, Location }));
      const base = JSON.stringify({ Name: name, JoinKey: `${name}?`, TeamBalance: true }).slice(0, -1);
      const sections = SECTIONS.map((section) => (section === "Players" ? JSON.stringify(shown) : "[]"));
      const hidden = hideInParts({ base, sections, misfits: 0 }, BOTH);
      expect(JSON.parse(`${hidden.base}}`)).toEqual({ Name: name, JoinKey: "", TeamBalance: true });
      expect(JSON.parse(hidden.sections[0] ?? "")).toEqual(players);
    }),
  );
});
