// Which bytes are taken for a picture, and of which size.
import { expect, test } from "bun:test";
import { readImageHeader } from "./map-image.ts";

const bytesOf = (...parts: (string | readonly number[])[]) =>
  Uint8Array.from(
    parts.flatMap((part) => (typeof part === "string" ? Array.from(part, (letter) => letter.charCodeAt(0)) : part)),
  );
const zeros = (count: number) => new Array<number>(count).fill(0);

const PNG = bytesOf("\x89PNG\r\n\x1a\n", [0, 0, 0, 13], "IHDR", [0, 0, 12, 49, 0, 0, 2, 0], zeros(9));
const JPEG = bytesOf([0xff, 0xd8, 0xff, 0xe0, 0, 6], "JFIF", [0xff, 0xff, 0xc2, 0, 17, 8, 2, 0, 12, 49], zeros(12));
const riff = (...chunk: (string | readonly number[])[]) => bytesOf("RIFF", zeros(4), "WEBP", ...chunk, zeros(20));
const VP8X = riff("VP8X", [10, 0, 0, 0, 0, 0, 0, 0], [48, 12, 0, 255, 1, 0]);
const VP8L = riff("VP8L", zeros(4), [0x2f, 0x30, 0xcc, 0x7f, 0x00]);
const VP8 = riff("VP8 ", zeros(4), [0, 0, 0, 0x9d, 0x01, 0x2a, 49, 12, 0, 2]);

test("PNG, JPEG and WebP are known by their bytes, with their size", () => {
  const size = { width: 3121, height: 512 };
  expect(readImageHeader(PNG)).toEqual({ type: "image/png", ...size });
  expect(readImageHeader(JPEG)).toEqual({ type: "image/jpeg", ...size });
  for (const webp of [VP8X, VP8L, VP8]) expect(readImageHeader(webp)).toEqual({ type: "image/webp", ...size });
  // Bytes in the middle of a larger buffer.
  expect(readImageHeader(Uint8Array.from([9, 9, ...PNG]).subarray(2))).toMatchObject(size);
});

test("anything else is no picture", () => {
  for (const text of ["", "<svg xmlns='http://www.w3.org/2000/svg'/>", "GIF89a", "<html>", "RIFF....WAVE"])
    expect(readImageHeader(bytesOf(text, zeros(40)))).toBeUndefined();
  for (const good of [PNG, JPEG, VP8X, VP8L, VP8])
    for (let length = 0; length < 20; length += 1) expect(readImageHeader(good.slice(0, length))).toBeUndefined();
  const empty = PNG.with(18, 0).with(19, 0);
  expect(readImageHeader(empty)).toBeUndefined();
});

test("a JPEG without a frame ends the search", () => {
  expect(readImageHeader(bytesOf([0xff, 0xd8, 0xff, 0xe0, 0, 0], zeros(50)))).toBeUndefined();
  expect(readImageHeader(Uint8Array.from([0xff, 0xd8, ...new Array(5_000).fill(0xff)]))).toBeUndefined();
});
