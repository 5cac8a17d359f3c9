// What was sealed opens again with the same secret for the same purpose, and in no other way.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createSealer } from "./sealer.ts";

const SECRET = "a secret of the operator's own choosing";
const sealer = createSealer(SECRET);
const KEY = "AbCdEf123456-GhIjKl7890";

describe("opening", () => {
  test("any text comes back as it was", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (text, purpose) => {
        expect(sealer.open(sealer.seal(text, purpose), purpose)).toBe(text);
      }),
    );
  });

  test("works after a restart: another sealer with the same secret opens it", () => {
    expect(createSealer(SECRET).open(sealer.seal(KEY, "srv_1"), "srv_1")).toBe(KEY);
  });

  test("is refused with another secret", () => {
    const sealed = sealer.seal(KEY, "srv_1");
    for (const secret of ["", `${SECRET} `, SECRET.toUpperCase()]) {
      expect(() => createSealer(secret).open(sealed, "srv_1")).toThrow();
    }
  });

  test("is refused for another purpose: a row's secret does not open in another row", () => {
    expect(() => sealer.open(sealer.seal(KEY, "srv_1"), "srv_2")).toThrow();
    expect(() => sealer.open(sealer.seal(KEY, "srv_1"), "")).toThrow();
  });

  test("is refused when any single bit was changed", () => {
    const sealed = sealer.seal(KEY, "srv_1");
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const changed = Uint8Array.from(sealed);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => sealer.open(changed, "srv_1")).toThrow();
    }
  });

  test("is refused when bytes are missing or added, down to nothing at all", () => {
    const sealed = sealer.seal(KEY, "srv_1");
    for (let length = 0; length < sealed.length; length++) {
      expect(() => sealer.open(sealed.subarray(0, length), "srv_1")).toThrow();
    }
    expect(() => sealer.open(Uint8Array.from([...sealed, 0]), "srv_1")).toThrow();
  });
});

describe("what is stored", () => {
  test("does not show the text", () => {
    const stored = Buffer.from(sealer.seal(KEY, "srv_1")).toString("latin1");
    expect(stored).not.toContain(KEY);
    expect(stored).not.toContain(KEY.slice(0, 6));
  });

  test("differs each time, even for the same text and purpose", () => {
    const stored = Array.from({ length: 500 }, () => Buffer.from(sealer.seal(KEY, "srv_1")).toString("hex"));
    expect(new Set(stored).size).toBe(500);
  });
});
