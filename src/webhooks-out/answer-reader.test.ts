// Answers of receivers, in whatever pieces they come: what is understood, and where reading ends.
import { describe, expect, test } from "bun:test";
import { ANSWER_BYTES_MAX, INTERIM_ANSWERS_MAX } from "../core/ports/post.ts";
import { AnswerReader, type ReadState } from "./answer-reader.ts";

const CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";
const FINAL = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n";

/** Takes the text in pieces of this size, until there is nothing more to read. */
function read(text: string, pieceBytes = 70_000) {
  const reader = new AnswerReader();
  const bytes = Buffer.from(text);
  let state: ReadState = "more";
  for (let at = 0; at < bytes.length && state === "more"; at += pieceBytes)
    state = reader.take(bytes.subarray(at, at + pieceBytes));
  const { status, body } = reader.find() ?? {};
  return { state, status, body, size: reader.size, reader };
}

describe("an answer", () => {
  test.each<[string, string, number, string]>([
    ["with a length", FINAL, 200, "ok"],
    ["with more than its length", `${FINAL}more`, 200, "ok"],
    ["of length 0", "HTTP/1.0 500 \r\nContent-Length: 0\r\n\r\n", 500, ""],
    ["without a reason", "HTTP/1.1 202\r\ncontent-length:1\r\n\r\n!", 202, "!"],
    ["that has no body", "HTTP/1.1 204 No Content\r\nA: b\r\n\r\n", 204, ""],
    ["without a header", "HTTP/1.1 304 Not Modified\r\n\r\n", 304, ""],
    ["in chunks", `${CHUNKED}3\r\nab\r\r\n2;name=value\r\ncd\r\n0\r\n`, 200, "ab\rcd"],
    ["in chunks, with trailers", `${CHUNKED}1\r\nx\r\n0\r\nA: b\r\n\r\n`, 200, "x"],
    [
      "in chunks and with a length",
      CHUNKED.replace("\r\n\r\n", "\r\nContent-Length: 1\r\n\r\n1\r\nx\r\n0\r\n"),
      200,
      "x",
    ],
    ["after interim answers", `${CONTINUE}HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${FINAL}`, 200, "ok"],
    ["after ten of them", `${CONTINUE.repeat(INTERIM_ANSWERS_MAX)}${FINAL}`, 200, "ok"],
  ])("%s is read to its end, whole and byte by byte", (_, text, status, body) => {
    for (const pieceBytes of [text.length, 7, 1])
      expect(read(text, pieceBytes)).toMatchObject({ state: "done", status, body });
  });

  test("has the headers that say when to send again, the first of each", () => {
    const text =
      "HTTP/1.1 429 Slow\r\nRETRY-AFTER:  7 \r\nRetry-After: 9\r\nX-RateLimit-Remaining: 0\r\nX-A: b\r\n\r\n";
    expect(read(text).reader.find()?.headers).toEqual({
      "retry-after": "7",
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset-after": undefined,
    });
  });

  test.each<[string, string, number | undefined, string | undefined]>([
    ["body without a length", "HTTP/1.1 500 Oh\r\n\r\nhalf", 500, "half"],
    ["body that lacks its end", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", 200, "half"],
    ["chunk", `${CHUNKED}1\r\na\r\nff\r\nhalf`, 200, "ahalf"],
    ["size of a chunk", `${CHUNKED}1\r\na\r\nf`, 200, "a"],
    ["head", "HTTP/1.1 200 OK\r\nRetry-Af", 200, ""],
    ["status line", "HTTP/1.1 200 OK", undefined, undefined],
    ["interim answer", "HTTP/1.1 100 Continue\r\nA: b\r\n", undefined, undefined],
  ])("counts from its status on: a %s that is cut", (_, text, status, body) => {
    for (const pieceBytes of [text.length, 1])
      expect(read(text, pieceBytes)).toMatchObject({ state: "more", status, body });
  });

  test.each([
    ["another protocol", "SSH-2.0-OpenSSH\r\n"],
    ["HTTP/2", "HTTP/2 200\r\n\r\n"],
    ["a status that is none", "HTTP/1.1 20x OK\r\n\r\n"],
    ["a status of four digits", "HTTP/1.1 2000 OK\r\n\r\n"],
    ["another protocol from here on", "HTTP/1.1 101 Yes\r\nUpgrade: x\r\n\r\n"],
    ["another protocol after an interim answer", `${CONTINUE}SSH-2.0`],
  ])("that is %s is none", (_, text) => {
    for (const pieceBytes of [text.length, 1])
      expect(read(text, pieceBytes)).toMatchObject({ state: "invalid", status: undefined });
  });
});

describe("an answer without an end", () => {
  test.each([1, 100, 65_536])("takes eleven interim answers and no more, in pieces of %i bytes", (pieceBytes) => {
    const { state, size } = read(CONTINUE.repeat(10_000), pieceBytes);
    expect(state).toBe("invalid");
    expect(size).toBeLessThanOrEqual(Math.max((INTERIM_ANSWERS_MAX + 1) * CONTINUE.length, ANSWER_BYTES_MAX));
    if (pieceBytes === 1) expect(size).toBe((INTERIM_ANSWERS_MAX + 1) * CONTINUE.length);
  });

  test("with a final status behind eleven interim answers, in one piece, has none", () => {
    const text = `${CONTINUE.repeat(INTERIM_ANSWERS_MAX + 1)}${FINAL}`;
    expect(read(text, text.length)).toMatchObject({ state: "invalid", status: undefined });
    const allowed = `${CONTINUE.repeat(INTERIM_ANSWERS_MAX)}${FINAL}`;
    expect(read(allowed, allowed.length)).toMatchObject({ state: "done", status: 200 });
  });

  test("takes 16 KiB, counted from the first byte of the first interim answer", () => {
    const padded = (bytes: number) => `HTTP/1.1 103 E\r\nA: ${"b".repeat(bytes)}\r\n\r\n`;
    expect(read(`${padded(16_000)}${FINAL}`)).toMatchObject({ state: "done", status: 200 });
    for (const pieceBytes of [70_000, 1_000])
      expect(read(`${padded(16_384)}${FINAL}`, pieceBytes)).toMatchObject({
        state: "invalid",
        status: undefined,
        size: ANSWER_BYTES_MAX,
      });
  });
});
