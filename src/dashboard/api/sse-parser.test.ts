import { describe, expect, test } from "bun:test";
import { MESSAGE_CHARS_MAX, SseParser } from "./sse-parser.ts";

const STREAM =
  'retry: 2000\nid: c1\nevent: hello\ndata: {"cursor":"c1"}\n\n: a comment\nid: c2\nevent: gap\ndata: {}\n\n';
const MESSAGES = [
  { id: "c1", event: "hello", data: '{"cursor":"c1"}' },
  { id: "c2", event: "gap", data: "{}" },
];

describe("Server-Sent Events", () => {
  test("are the same messages wherever the text is cut", () => {
    for (const text of [STREAM, STREAM.replaceAll("\n", "\r\n"), STREAM.replaceAll("\n", "\r")]) {
      for (let cut = 0; cut <= text.length; cut++) {
        const parser = new SseParser();
        // The last CR is known to end a line only when something follows.
        const messages = [
          ...parser.push(text.slice(0, cut)),
          ...parser.push(text.slice(cut)),
          ...parser.push(":"),
        ];
        expect(messages).toEqual(MESSAGES);
      }
    }
  });

  test("keep the last id for messages without one, and need data", () => {
    const parser = new SseParser();
    expect(parser.push("id: c7\n\n")).toEqual([]);
    expect(parser.push('event: bye\ndata: {"reason":"restart"}\n\n')).toEqual([
      { id: "c7", event: "bye", data: '{"reason":"restart"}' },
    ]);
  });

  test("may have several lines of data, no space after the colon, and a byte order mark", () => {
    expect(new SseParser().push("\uFEFFdata:a\ndata: b\ndata\n\n")).toEqual([
      { id: "", event: "message", data: "a\nb\n" },
    ]);
  });

  test("that never end are given up", () => {
    const parser = new SseParser();
    const piece = `data: ${"x".repeat(MESSAGE_CHARS_MAX / 4)}\n`;
    expect(() => {
      for (let count = 0; count < 5; count++) parser.push(piece);
    }).toThrow("too long");
  });
});
