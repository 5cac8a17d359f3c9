// Which form of a body is sent, and which answers are counted until they are sent.
import { describe, expect, test } from "bun:test";
import { Body } from "../../gateway/body.ts";
import { Call, type Connection } from "../call.ts";
import { Target } from "../requests/target.ts";
import { findGzipped, toPayload } from "./send-body.ts";

const CONNECTION: Connection = { requestIP: () => null, timeout() {} };
const LARGE = new Uint8Array(100_000);
const STREAMED = new Uint8Array(20_000);
const FULL = { add: () => false };

function makeCall(method: "GET" | "HEAD", { isAsync } = { isAsync: false }): Call {
  const request = new Request("http://127.0.0.1/", { method });
  const call = new Call(request, new Target(undefined, "/", ""), CONNECTION, () => 0);
  call.isAsync = isAsync;
  return call;
}

describe("the compressed form", () => {
  const body = new Body("x".repeat(5_000));

  test("is sent to clients that accept it, when it saves something", () => {
    expect(findGzipped(new Headers({ "Accept-Encoding": "gzip" }), body)).toBe(body.gzipped);
    expect(findGzipped(new Headers({ "Accept-Encoding": "gzip" }), new Body("x"))).toBeNull();
    expect(findGzipped(new Headers({ "Accept-Encoding": "br" }), body)).toBeNull();
    expect(findGzipped(new Headers(), body)).toBeNull();
  });
});

describe("the payload", () => {
  test("is counted for its key", () => {
    const counted: unknown[] = [];
    const call = makeCall("GET");
    const add = (...added: unknown[]) => counted.push(added) > 0;
    const payload = toPayload(call, LARGE, "key_1", { add });
    expect(payload).toBeInstanceOf(Blob);
    expect(counted).toEqual([[call, "key_1", payload]]);
  });

  test("is missing when too much is unsent", () => {
    expect(toPayload(makeCall("GET"), LARGE, "key_1", FULL)).toBeUndefined();
  });

  test("is never refused for HEAD, which sends no body", () => {
    expect(toPayload(makeCall("HEAD"), LARGE, "key_1", FULL)).toBeInstanceOf(Blob);
    expect(toPayload(makeCall("HEAD", { isAsync: true }), STREAMED, "key_1", FULL)).toBeInstanceOf(Blob);
  });

  test("is a stream of the same bytes where the runtime is slow with others", async () => {
    const payload = toPayload(makeCall("GET", { isAsync: true }), STREAMED, "key_1", FULL);
    expect(payload).toBeInstanceOf(ReadableStream);
    expect(await new Response(payload).bytes()).toEqual(STREAMED);
    expect(toPayload(makeCall("GET"), STREAMED, "key_1", { add: () => true })).toBeInstanceOf(Blob);
  });
});
