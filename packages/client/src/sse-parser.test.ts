import { expect, test } from "bun:test";
import fc from "fast-check";
import { SseParser } from "./sse-parser.ts";

const CHARS_MAX = 1_000;
const STREAM = [
  'retry: 2000\nid: a\nevent: hello\ndata: {"cursor":"a"}\n\n',
  ": a comment\r\nid: b\r\nevent: player.joined\r\ndata: one\r\ndata:two\r\n\r\n",
  "data: three\r\rid\nevent: none\n\nid: with\0null\ndata\n\n",
].join("");

const MESSAGES = [
  { id: "a", event: "hello", data: '{"cursor":"a"}' },
  { id: "b", event: "player.joined", data: "one\ntwo" },
  { id: "b", event: "message", data: "three" },
  { id: "", event: "message", data: "" },
];

test("the messages are the same, wherever the stream is cut into pieces", () => {
  expect(new SseParser().push(STREAM)).toEqual(MESSAGES);
  fc.assert(
    fc.property(fc.array(fc.nat(STREAM.length), { maxLength: 20 }), (cuts) => {
      const places = [0, ...cuts, STREAM.length].toSorted((a, b) => a - b);
      const parser = new SseParser();
      const messages = places.flatMap((place, index) => parser.push(STREAM.slice(places[index - 1] ?? 0, place)));
      expect(messages).toEqual(MESSAGES);
    }),
  );
});

test("a message without its end is not given", () => {
  expect(new SseParser().push("data: half\n")).toEqual([]);
});

test("a line or a message without end is refused instead of kept", () => {
  const piece = "x".repeat(CHARS_MAX / 4);
  const endless = new SseParser(CHARS_MAX);
  expect(() => {
    for (let count = 0; count < 5; count++) endless.push(piece);
  }).toThrow(RangeError);
  const lines = new SseParser(CHARS_MAX);
  expect(() => {
    for (let count = 0; count < 5; count++) lines.push(`data: ${piece}\n`);
  }).toThrow(RangeError);
  const empty = new SseParser(CHARS_MAX);
  expect(() => {
    for (let count = 0; count < 5; count++) empty.push("data\n".repeat(CHARS_MAX / 4));
  }).toThrow(RangeError);
});

test("many messages of legal length go through", () => {
  const parser = new SseParser(CHARS_MAX);
  const text = `data: ${"x".repeat(CHARS_MAX / 4)}\n\n`;
  for (let count = 0; count < 8; count++) expect(parser.push(text)).toHaveLength(1);
});
