import { describe, expect, test } from "bun:test";
import { computeCorrection, computeFormat, computeVersionBits, encodeQrCode, toSvgPath } from "./qr-code.ts";

/** How many bytes each version holds at level M, as the standard lists it. */
const CAPACITIES = [
  14, 26, 42, 62, 84, 106, 122, 152, 180, 213, 251, 287, 331, 362, 412, 450, 504, 560, 624, 666,
];

/** Figure 1 of ISO/IEC 18004: "QR Code Symbol", version 1-M, mask 5. */
const FIGURE_1 = `
111111100001101111111
100000101001101000001
101110101110101011101
101110101010001011101
101110100000101011101
100000100010101000001
111111101010101111111
000000001100100000000
100000101111011001110
100010001110001000111
011101111001100100010
110100001011010100110
011111111110001011011
000000001000000010110
111111100111111000110
100000100010011011100
101110100000111000111
101110100100001010100
101110100100101010011
100000100001110111100
111111101011001010010`;

describe("known vectors", () => {
  test("the figure of the standard is drawn module by module", () => {
    const drawn = encodeQrCode("QR Code Symbol", 5).map((row) => row.map(Number).join(""));
    expect(`\n${drawn.join("\n")}`).toBe(FIGURE_1);
  });

  test("the error correction of the data of HELLO WORLD in 1-M", () => {
    const data = [32, 91, 11, 120, 209, 114, 220, 77, 67, 64, 236, 17, 236, 17, 236, 17];
    expect(computeCorrection(data, 10)).toEqual([196, 35, 39, 119, 235, 215, 231, 226, 93, 23]);
  });

  test("the format information of level M, and the version information of 7 and 20", () => {
    const formats = Array.from({ length: 8 }, (_, mask) => computeFormat(mask).toString(2));
    expect(formats).toEqual([
      "101010000010010",
      "101000100100101",
      "101111001111100",
      "101101101001011",
      "100010111111001",
      "100000011001110",
      "100111110010111",
      "100101010100000",
    ]);
    expect(computeVersionBits(7).toString(2).padStart(18, "0")).toBe("000111110010010100");
    expect(computeVersionBits(20).toString(2).padStart(18, "0")).toBe("010100100110100110");
  });
});

test("each version holds as many bytes as the standard says, and a longer text is refused", () => {
  for (const [index, capacity] of CAPACITIES.entries()) {
    expect(encodeQrCode("x".repeat(capacity), 0)).toHaveLength(4 * (index + 1) + 17);
    if (capacity < 666) expect(encodeQrCode("x".repeat(capacity + 1), 0)).toHaveLength(4 * (index + 2) + 17);
  }
  expect(() => encodeQrCode("x".repeat(667))).toThrow(RangeError);
});

test("bytes count, not characters", () => {
  expect(encodeQrCode("ж".repeat(7), 0)).toHaveLength(21);
  expect(encodeQrCode("ж".repeat(8), 0)).toHaveLength(25);
});

test("the path has every dark module and no light one", () => {
  const modules = encodeQrCode("https://gatehouse.example.org/#/link/gtl_0123456789");
  const drawn = modules.map((row) => row.map(() => false));
  for (const [, x, y, width] of toSvgPath(modules).matchAll(/M(\d+) (\d+)h(\d+)v1h-\d+z/g)) {
    drawn[Number(y)]?.fill(true, Number(x), Number(x) + Number(width));
  }
  expect(drawn).toEqual(modules.map((row) => [...row]));
});
