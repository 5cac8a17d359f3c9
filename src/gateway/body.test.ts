// A body's ETag tells contents apart, and its compressed form is lossless.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Body, GZIP_MIN_BYTES } from "./body.ts";

describe("the ETag", () => {
  test("is an entity tag", () => {
    expect(new Body("Town").etag).toMatch(/^(?:W\/)?"[!#-~]+"$/);
  });

  test("is the same for the same content", () => {
    expect(new Body("Town").etag).toBe(new Body("Town").etag);
  });

  test("differs when a single character differs", () => {
    expect(new Body("Towm").etag).not.toBe(new Body("Town").etag);
  });
});

describe("compression", () => {
  test("decompresses to the same bytes", () => {
    const text = fc.string({ unit: "grapheme", minLength: 300, maxLength: 3_000 });
    let compressedCount = 0;
    fc.assert(
      fc.property(text, (part) => {
        const body = new Body(JSON.stringify(part.repeat(4)));
        if (!body.gzipped) return;
        compressedCount++;
        expect(body.gzipped.length).toBeLessThan(body.bytes.length);
        expect(Buffer.from(Bun.gunzipSync(body.gzipped)).equals(body.bytes)).toBe(true);
      }),
      { numRuns: 50 },
    );
    expect(compressedCount).toBeGreaterThan(20);
  });

  test("is skipped for small bodies", () => {
    expect(new Body("x".repeat(GZIP_MIN_BYTES - 1)).gzipped).toBeNull();
    expect(new Body("x".repeat(GZIP_MIN_BYTES)).gzipped).not.toBeNull();
  });

  test("is done once per body", () => {
    const body = new Body("x".repeat(5_000));
    expect(body.gzipped).not.toBeNull();
    expect(body.gzipped).toBe(body.gzipped);
  });
});
