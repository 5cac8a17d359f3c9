import { describe, expect, test } from "bun:test";
import { ALL_SECTIONS, NO_SECTIONS, SECTIONS, toSectionSet } from "../../core/sections.ts";
import { BODIES_MAX, Snapshot } from "../../gateway/readings/snapshot.ts";
import { facadeBodiesOf } from "./facade-bodies.ts";

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
    const body = bodies.server(players, ALL_SECTIONS);
    expect(bodies.server(players, players)).toBe(body);
    expect(bodies.server(players, NO_SECTIONS)).not.toBe(body);
    expect(bodies.v1("queue")).toBe(bodies.v1("queue"));
  });

  test(`are at most ${BODIES_MAX}: then the oldest is dropped`, () => {
    const bodies = facadeBodiesOf(new Snapshot(PARTS, 0));
    const first = bodies.server(0, ALL_SECTIONS);
    for (let sections = 1; sections < BODIES_MAX; sections++) bodies.server(sections, ALL_SECTIONS);
    expect(bodies.server(0, ALL_SECTIONS)).toBe(first);
    bodies.server(BODIES_MAX, ALL_SECTIONS);
    expect(bodies.server(0, ALL_SECTIONS)).not.toBe(first);
  });
});
