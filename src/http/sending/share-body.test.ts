// Answers with the same body share its memory.
import { expect, test } from "bun:test";
import { SHARED_BYTES_MIN, shareBody } from "./send-body.ts";

test("all readers of one body get the same blob, with its bytes", async () => {
  const bytes = new Uint8Array(SHARED_BYTES_MIN).fill(7);
  const shared = shareBody(bytes);
  expect(shared).toBeInstanceOf(Blob);
  expect(shareBody(bytes)).toBe(shared);
  expect(await new Response(shared).bytes()).toEqual(bytes);
});

test("another body of the same bytes has a blob of its own, because the first may be dropped", () => {
  const bytes = new Uint8Array(SHARED_BYTES_MIN);
  expect(shareBody(bytes.slice())).not.toBe(shareBody(bytes));
});

test("a small body is sent as it is", () => {
  const bytes = new Uint8Array(SHARED_BYTES_MIN - 1);
  expect(shareBody(bytes)).toBe(bytes);
});
