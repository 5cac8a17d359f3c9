// Tokens: their shape, and their checksum, which is computed here from the definition of CRC32.
import { describe, expect, test } from "bun:test";
import { createHash, randomBytes } from "node:crypto";
import fc from "fast-check";
import { hashToken, isWellFormedToken, mintToken, randomBase62 } from "./token.ts";

const DIGITS = [..."0123456789", ..."ABCDEFGHIJKLMNOPQRSTUVWXYZ", ..."abcdefghijklmnopqrstuvwxyz"];

function crc32(text: string): bigint {
  let crc = 0xffffffffn;
  for (const byte of new TextEncoder().encode(text)) {
    crc ^= BigInt(byte);
    for (let bit = 0; bit < 8; bit++) crc = crc & 1n ? (crc >> 1n) ^ 0xedb88320n : crc >> 1n;
  }
  return crc ^ 0xffffffffn;
}

function checksum(text: string): string {
  let rest = crc32(text);
  const digits: string[] = [];
  while (rest > 0n) {
    digits.unshift(DIGITS[Number(rest % 62n)] ?? "?");
    rest /= 62n;
  }
  return digits.join("").padStart(6, "0");
}

const base62 = (length: number) =>
  fc.array(fc.constantFrom(...DIGITS), { minLength: length, maxLength: length }).map((digits) => digits.join(""));
const mint = () => mintToken((size) => randomBytes(size));

/** All byte values in turn, so that each is equally frequent. */
function countingBytes(): (size: number) => Uint8Array {
  let next = 0;
  return (size) => Uint8Array.from({ length: size }, () => next++ % 256);
}

describe("the checksum", () => {
  test("the reference CRC32 of this test is the standard one", () => {
    expect(crc32("123456789")).toBe(0xcbf43926n);
  });

  test("a new token ends in the base62 CRC32 of the 34 characters before it", () => {
    for (let i = 0; i < 500; i++) {
      const token = mint();
      expect(token.slice(34)).toBe(checksum(token.slice(0, 34)));
    }
  });

  test("any 30 base62 characters with the right checksum are well formed", () => {
    fc.assert(
      fc.property(base62(30), (secret) => isWellFormedToken(`gth_${secret}${checksum(`gth_${secret}`)}`)),
      { numRuns: 1_000 },
    );
  });

  test("a checksum that needs fewer than six digits is padded with 0", () => {
    const secrets = fc.sample(base62(30), { numRuns: 5_000, seed: 1 });
    const padded = secrets.map((secret) => `gth_${secret}`).filter((text) => checksum(text).startsWith("0"));
    expect(padded.length).toBeGreaterThan(10);
    for (const text of padded) expect(isWellFormedToken(text + checksum(text))).toBe(true);
  });

  test("any other six characters after the 34 are refused", () => {
    fc.assert(
      fc.property(base62(30), base62(6), (secret, other) => {
        fc.pre(other !== checksum(`gth_${secret}`));
        return !isWellFormedToken(`gth_${secret}${other}`);
      }),
    );
  });

  test("a token with any single character changed is refused", () => {
    for (let round = 0; round < 3; round++) {
      const token = mint();
      for (let at = 0; at < token.length; at++) {
        for (const other of [...DIGITS, "_", "-", " ", "\n", "é", ""]) {
          if (other === token[at]) continue;
          const changed = token.slice(0, at) + other + token.slice(at + 1);
          if (isWellFormedToken(changed)) throw new Error(`${changed} passes for ${token}`);
        }
      }
    }
  });

  test("a token with two neighbouring characters swapped is refused", () => {
    const token = mint();
    for (let at = 0; at + 1 < token.length; at++) {
      const swapped = `${token.slice(0, at)}${token[at + 1]}${token[at]}${token.slice(at + 2)}`;
      if (swapped !== token) expect(isWellFormedToken(swapped)).toBe(false);
    }
  });
});

describe("the shape", () => {
  test("a token is gth_ and 36 base62 characters", () => {
    for (let i = 0; i < 200; i++) {
      const token = mint();
      expect(token).toMatch(/^gth_[0-9A-Za-z]{36}$/);
      expect(isWellFormedToken(token)).toBe(true);
    }
  });

  test.each([
    ["nothing", () => ""],
    ["the prefix alone", () => "gth_"],
    ["a character missing", () => mint().slice(0, -1)],
    ["a character too many", () => `${mint()}0`],
    ["a space before it", () => ` ${mint()}`],
    ["a line feed after it", () => `${mint()}\n`],
    ["another prefix", () => mint().replace("gth_", "gtx_")],
    ["a prefix in capitals", () => mint().replace("gth_", "GTH_")],
    ["a megabyte", () => "gth_".padEnd(1_000_000, "a")],
  ])("%s is refused", (_, make) => {
    expect(isWellFormedToken(make())).toBe(false);
  });

  test("a prefix that is not gth_ is refused even with a checksum that fits it", () => {
    const text = `gtx_${"a".repeat(30)}`;
    expect(isWellFormedToken(text + checksum(text))).toBe(false);
  });

  test("no text makes the check throw, and a text that is no token is refused", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => !isWellFormedToken(text)));
  });
});

describe("the random characters", () => {
  test("every character of the alphabet is equally likely", () => {
    // 248 of the 256 byte values are used, so the 256 values give each of the 62 characters exactly 4 times.
    const text = randomBase62(248 * 5, countingBytes());
    const counts = new Map<string, number>();
    for (const digit of text) counts.set(digit, (counts.get(digit) ?? 0) + 1);
    expect([...counts.keys()].sort()).toEqual([...DIGITS].sort());
    expect(new Set(counts.values())).toEqual(new Set([20]));
  });

  test("the text has the requested length, also when the first bytes are all skipped", () => {
    let calls = 0;
    const unlucky = (size: number) => new Uint8Array(size).fill(++calls < 4 ? 255 : 7);
    expect(randomBase62(20, unlucky)).toHaveLength(20);
  });

  test("a thousand tokens are all different", () => {
    expect(new Set(Array.from({ length: 1_000 }, mint)).size).toBe(1_000);
  });
});

test("the stored hash of a token is its SHA-256", () => {
  const token = mint();
  const kept = Buffer.from(hashToken(token), "base64");
  expect(kept.equals(createHash("sha256").update(token).digest())).toBe(true);
});
