import { describe, expect, test } from "bun:test";
import { READS_ALL } from "../../core/keys/api-key.ts";
import { HIDES_JOIN_KEY } from "../../core/keys/rights.ts";
import { NO_SECTIONS, SECTIONS, toSectionSet } from "../../core/sections.ts";
import { BODIES_MAX, Snapshot } from "../../gateway/readings/snapshot.ts";
import { facadeBodiesOf } from "./facade-handlers.ts";

const PARTS = {
  base: '{"Name":"Town","CoOwnerIds":[]',
  sections: SECTIONS.map((name) => (name === "Staff" ? "{}" : "[]")),
  misfits: 0,
};

describe("the bodies of a snapshot", () => {
  test("are made once for what is asked and what may be read", () => {
    const snapshot = new Snapshot(PARTS, 0);
    const players = toSectionSet(["Players"]);
    const bodies = facadeBodiesOf(snapshot);
    expect(facadeBodiesOf(snapshot)).toBe(bodies);
    const body = bodies.server(players, READS_ALL);
    expect(bodies.server(players, { sections: players, hide: 0 })).toBe(body);
    expect(bodies.server(players, { sections: NO_SECTIONS, hide: 0 })).not.toBe(body);
    expect(bodies.v1("queue", 0)).toBe(bodies.v1("queue", 0));
    expect(bodies.server(players, { ...READS_ALL, hide: HIDES_JOIN_KEY })).not.toBe(body);
  });

  test(`are at most ${BODIES_MAX}: then the oldest is dropped`, () => {
    const bodies = facadeBodiesOf(new Snapshot(PARTS, 0));
    const first = bodies.server(0, READS_ALL);
    for (let sections = 1; sections < BODIES_MAX; sections++) bodies.server(sections, READS_ALL);
    expect(bodies.server(0, READS_ALL)).toBe(first);
    bodies.server(BODIES_MAX, READS_ALL);
    expect(bodies.server(0, READS_ALL)).not.toBe(first);
  });
});
