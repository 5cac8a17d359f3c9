// A snapshot's bodies: the right fields in the right order, and an ETag by content.
import { describe, expect, test } from "bun:test";
import { HIDES_JOIN_KEY, HIDES_LOCATION } from "../../core/keys/rights.ts";
import type { ServerParts } from "../../core/ports/upstream.ts";
import { SECTIONS, toSectionSet } from "../../core/sections.ts";
import type { Body } from "../body.ts";
import { BODIES_MAX, Snapshot } from "./snapshot.ts";

const BASE = '{"Name":"Town","OwnerId":1234567890123456789';
const PARTS: ServerParts = { base: BASE, sections: SECTIONS.map((name) => `["${name}"]`), misfits: 0 };
const open = (parts = PARTS, fetchedAt = 0) => new Snapshot(parts, fetchedAt);
const textOf = (body: Body) => new TextDecoder().decode(body.bytes);

describe("the body", () => {
  test("without sections has only the required fields, with exact numbers", () => {
    expect(textOf(open().body(0))).toBe(`${BASE}}`);
  });

  test("has the requested sections and no other, in the order of the specification", () => {
    expect(textOf(open().body(toSectionSet(["Vehicles", "Players", "Queue"])))).toBe(
      `${BASE},"Players":["Players"],"Queue":["Queue"],"Vehicles":["Vehicles"]}`,
    );
  });

  test("is right for each of the 512 sets of sections, in any order and more than once", () => {
    const snapshot = open();
    const order = Array.from({ length: 1_024 }, (_, i) => (i * 37) % 512);
    for (const set of order) {
      const info = JSON.parse(textOf(snapshot.body(set)));
      const requested = SECTIONS.filter((_, bit) => set & (1 << bit));
      expect(Object.keys(info)).toEqual(["Name", "OwnerId", ...requested]);
    }
  });

  test("is assembled once per set of sections", () => {
    const snapshot = open();
    expect(snapshot.body(5)).toBe(snapshot.body(5));
  });

  test("no more than BODIES_MAX bodies are cached: the oldest is dropped", () => {
    const snapshot = open();
    const first = snapshot.body(0);
    const bodies = Array.from({ length: BODIES_MAX }, (_, i) => snapshot.body(i + 1));
    for (const [i, body] of bodies.entries()) expect(snapshot.body(i + 1)).toBe(body);
    expect(snapshot.body(0)).not.toBe(first);
    expect(textOf(snapshot.body(0))).toBe(textOf(first));
  });
});

describe("what is hidden", () => {
  const parts: ServerParts = {
    base: '{"Name":"x\\",\\"JoinKey\\":\\"y","OwnerId":1234567890123456789,"JoinKey":"OliveComet","TeamBalance":true',
    sections: SECTIONS.map((name) => {
      if (name === "Players")
        return '[{"Player":"\\"Location\\":{:1","Location":{"LocationX":1.50,"PostalCode":"218"},"WantedStars":1.0}]';
      return name === "EmergencyCalls" ? '[{"Position":[1.50,2]}]' : "[]";
    }),
    misfits: 0,
  };
  const sections = toSectionSet(["Players", "EmergencyCalls"]);
  const both = HIDES_JOIN_KEY | HIDES_LOCATION;

  test("is not in the body, and all else is as it was written", () => {
    expect(textOf(open(parts).body(sections, both))).toBe(
      '{"Name":"x\\",\\"JoinKey\\":\\"y","OwnerId":1234567890123456789,"JoinKey":"","TeamBalance":true,' +
        '"Players":[{"Player":"\\"Location\\":{:1","WantedStars":1.0}],"EmergencyCalls":[{"Position":[1.50,2]}]}',
    );
    expect(textOf(open(parts).body(sections, HIDES_LOCATION))).toContain("OliveComet");
    expect(textOf(open(parts).body(sections, HIDES_JOIN_KEY))).toContain("218");
  });

  test("is taken out once: bodies and parts are cached, and each has its ETag", () => {
    const snapshot = open(parts);
    expect(snapshot.body(sections, both)).toBe(snapshot.body(sections, both));
    expect(snapshot.partsFor(both)).toBe(snapshot.partsFor(both));
    expect(snapshot.partsFor(0)).toBe(parts);
    const tags = [0, HIDES_JOIN_KEY, HIDES_LOCATION, both].map((hide) => snapshot.body(sections, hide).etag);
    expect(new Set(tags).size).toBe(4);
  });
});

describe("the ETag", () => {
  test("is the same for another reading with the same content", () => {
    expect(open(PARTS, 99).body(3).etag).toBe(open(PARTS, 1).body(3).etag);
  });

  test("differs between the sets of sections", () => {
    const snapshot = open();
    const tags = Array.from({ length: 512 }, (_, set) => snapshot.body(set).etag);
    expect(new Set(tags).size).toBe(512);
  });
});
