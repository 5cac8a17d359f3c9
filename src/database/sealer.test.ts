// A sealed text can be opened only with the same secret and for the same purpose.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Sealer } from "./sealer.ts";

const SECRET = "a secret of the operator's own choosing";
const sealer = new Sealer(SECRET);
const KEY = "AbCdEf123456-GhIjKl7890";

describe("opening", () => {
  test("returns the sealed text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (text, purpose) => {
        expect(sealer.open(sealer.seal(text, purpose), purpose)).toBe(text);
      }),
    );
  });

  test("works after a restart, with a new sealer and the same secret", () => {
    expect(new Sealer(SECRET).open(sealer.seal(KEY, "srv_1"), "srv_1")).toBe(KEY);
  });

  test("throws with another secret", () => {
    const sealed = sealer.seal(KEY, "srv_1");
    for (const secret of ["", `${SECRET} `, SECRET.toUpperCase()]) {
      expect(() => new Sealer(secret).open(sealed, "srv_1")).toThrow();
    }
  });

  test("throws for another purpose: the secret of one row cannot be opened in another", () => {
    expect(() => sealer.open(sealer.seal(KEY, "srv_1"), "srv_2")).toThrow();
    expect(() => sealer.open(sealer.seal(KEY, "srv_1"), "")).toThrow();
  });

  test("throws when any single bit was changed", () => {
    const sealed = sealer.seal(KEY, "srv_1");
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const changed = Uint8Array.from(sealed);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => sealer.open(changed, "srv_1")).toThrow();
    }
  });

  test("throws when bytes are missing or added", () => {
    const sealed = sealer.seal(KEY, "srv_1");
    for (let length = 0; length < sealed.length; length++) {
      expect(() => sealer.open(sealed.subarray(0, length), "srv_1")).toThrow();
    }
    expect(() => sealer.open(Uint8Array.from([...sealed, 0]), "srv_1")).toThrow();
  });
});

describe("the sealed bytes", () => {
  test("do not contain the text", () => {
    const stored = Buffer.from(sealer.seal(KEY, "srv_1")).toString("latin1");
    expect(stored).not.toContain(KEY);
    expect(stored).not.toContain(KEY.slice(0, 6));
  });

  test("differ each time, even for the same text and purpose", () => {
    const stored = Array.from({ length: 500 }, () => Buffer.from(sealer.seal(KEY, "srv_1")).toString("hex"));
    expect(new Set(stored).size).toBe(500);
  });
});
