// One reading, ready to be sent: the right fields in the right order, tagged by content, packed without loss.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ServerParts } from "../../core/ports/upstream.ts";
import { SECTIONS, toSectionSet } from "../../core/sections.ts";
import { BODIES_MAX, type Body, Snapshot } from "./snapshot.ts";

const BASE = '{"Name":"Town","OwnerId":1234567890123456789';
const PARTS: ServerParts = { base: BASE, sections: SECTIONS.map((name) => `["${name}"]`), misfits: 0 };
const open = (parts = PARTS, fetchedAt = 0) => new Snapshot(parts, fetchedAt);
const textOf = (body: Body) => new TextDecoder().decode(body.bytes);

describe("the body", () => {
  test("without sections has the required fields alone, numbers exact", () => {
    expect(textOf(open().body(0))).toBe(`${BASE}}`);
  });

  test("has the sections asked for and no other, in the order of the specification", () => {
    expect(textOf(open().body(toSectionSet(["Vehicles", "Players", "Queue"])))).toBe(
      `${BASE},"Players":["Players"],"Queue":["Queue"],"Vehicles":["Vehicles"]}`,
    );
  });

  test("is right for each of the 512 sets of sections, in any order of asking and asked for again", () => {
    const snapshot = open();
    const order = Array.from({ length: 1_024 }, (_, i) => (i * 37) % 512);
    for (const set of order) {
      const info = JSON.parse(textOf(snapshot.body(set)));
      const wanted = SECTIONS.filter((_, bit) => set & (1 << bit));
      expect(Object.keys(info)).toEqual(["Name", "OwnerId", ...wanted]);
    }
  });

  test("is assembled once for a set of sections that is asked for again", () => {
    const snapshot = open();
    expect(snapshot.body(5)).toBe(snapshot.body(5));
  });

  test("a ceiling holds for the bodies kept: the oldest makes room, the newest stay", () => {
    const snapshot = open();
    const first = snapshot.body(0);
    const bodies = Array.from({ length: BODIES_MAX }, (_, i) => snapshot.body(i + 1));
    for (const [i, body] of bodies.entries()) expect(snapshot.body(i + 1)).toBe(body);
    expect(snapshot.body(0)).not.toBe(first);
    expect(textOf(snapshot.body(0))).toBe(textOf(first));
  });
});

describe("the ETag", () => {
  test("is an entity tag", () => {
    expect(open().body(1).etag).toMatch(/^(?:W\/)?"[!#-~]+"$/);
  });

  test("is the same for the same content of another reading", () => {
    expect(open(PARTS, 99).body(3).etag).toBe(open(PARTS, 1).body(3).etag);
  });

  test("differs between the sets of sections", () => {
    const snapshot = open();
    const tags = Array.from({ length: 512 }, (_, set) => snapshot.body(set).etag);
    expect(new Set(tags).size).toBe(512);
  });

  test("differs when a single character differs", () => {
    const changed = { ...PARTS, base: BASE.replace("Town", "Towm") };
    expect(open(changed).body(3).etag).not.toBe(open().body(3).etag);
  });
});

describe("compression", () => {
  test("unpacks to the very same bytes", () => {
    const text = fc.string({ unit: "grapheme", minLength: 300, maxLength: 3_000 });
    let packedCount = 0;
    fc.assert(
      fc.property(text, (name) => {
        const body = open({ ...PARTS, base: `{"Name":${JSON.stringify(name.repeat(4))}` }).body(511);
        if (!body.gzipped) return;
        packedCount++;
        expect(body.gzipped.length).toBeLessThan(body.bytes.length);
        expect(Buffer.from(Bun.gunzipSync(body.gzipped)).equals(body.bytes)).toBe(true);
      }),
      { numRuns: 50 },
    );
    expect(packedCount).toBeGreaterThan(20);
  });

  test("is left out where it is not worth it: small bodies, and bodies that would not shrink", () => {
    expect(open().body(0).gzipped).toBeNull();
    const noise = Buffer.from(crypto.getRandomValues(new Uint8Array(40))).toString("base64url");
    expect(open({ ...PARTS, base: `{"Name":"${noise}"` }).body(0).gzipped).toBeNull();
  });

  test("is done once a body", () => {
    const body = open({ ...PARTS, base: `{"Name":"${"x".repeat(5_000)}"` }).body(0);
    expect(body.gzipped).not.toBeNull();
    expect(body.gzipped).toBe(body.gzipped);
  });
});
