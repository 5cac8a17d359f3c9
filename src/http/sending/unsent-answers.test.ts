// What waits for slow readers is limited: for each key, and in all.
import { describe, expect, test } from "bun:test";
import { Call, type Connection } from "../call.ts";
import { Target } from "../requests/target.ts";
import { COUNTED_BYTES_MIN, UnsentAnswers } from "./unsent-answers.ts";

const SIZE = COUNTED_BYTES_MIN;
const TARGET = new Target(undefined, "/v2/game/server", "");

/** Knows the addresses of requests whose answers are not sent completely, as the runtime does. */
class FakeConnection implements Connection {
  readonly unsent = new Set<Request>();
  readonly shortened: Request[] = [];

  requestIP(request: Request) {
    return this.unsent.has(request) ? { address: "127.0.0.1", port: 1 } : null;
  }

  timeout(request: Request): void {
    this.shortened.push(request);
  }
}

function setUp(limits = { bytesMax: 5 * SIZE, bytesPerKeyMax: 3 * SIZE }) {
  const connection = new FakeConnection();
  const answers = new UnsentAnswers(limits);
  let now = 0;
  return {
    connection,
    answers,
    advance(ms: number) {
      now += ms;
    },
    /** Whether the answer was allowed; if so, it is unsent from now on. */
    add(keyId: string, body: Blob = new Blob(["x".repeat(SIZE)])): boolean {
      const request = new Request("http://127.0.0.1/");
      connection.unsent.add(request);
      // Past the pause between two searches for finished answers.
      now += 1_000;
      const call = new Call(request, TARGET, connection, () => 0);
      Object.defineProperty(call, "startedAt", { value: now });
      const isAllowed = answers.add(call, keyId, body);
      if (!isAllowed) connection.unsent.delete(request);
      return isAllowed;
    },
  };
}

describe("unsent answers", () => {
  test("of one key are limited by the memory of their bodies, and other keys are not affected", () => {
    const { add } = setUp();
    const body = new Blob(["x".repeat(SIZE)]);
    expect([1, 2, 3, 4, 5].map(() => add("key_1", body))).toEqual([true, true, true, true, true]);
    expect([1, 2, 3].map(() => add("key_1"))).toEqual([true, true, false]);
    expect(add("key_1", body)).toBe(true);
    expect(add("key_2")).toBe(true);
  });

  test("with bodies that fit into a socket's buffer are not counted", () => {
    const { add, answers } = setUp({ bytesMax: 0, bytesPerKeyMax: 0 });
    expect(add("key_1", new Blob(["x".repeat(SIZE - 1)]))).toBe(true);
    expect(answers.bytes).toBe(0);
    expect(add("key_1", new Blob(["x".repeat(SIZE)]))).toBe(false);
  });

  test("of all keys are limited by the memory of their bodies, which answers share", () => {
    const { add, answers } = setUp();
    const shared = new Blob(["x".repeat(SIZE)]);
    expect(["a", "b", "c"].map((keyId) => add(keyId, shared))).toEqual([true, true, true]);
    expect(answers.bytes).toBe(SIZE);
    expect(["d", "e", "f", "g", "h"].map((keyId) => add(keyId))).toEqual([true, true, true, true, false]);
    expect(answers.bytes).toBe(5 * SIZE);
    // A body that is being sent anyway needs no further memory.
    expect(add("h", shared)).toBe(true);
  });

  test("make room when they are sent", () => {
    const { add, connection } = setUp();
    for (let sent = 0; sent < 3; sent++) add("key_1");
    expect(add("key_1")).toBe(false);
    connection.unsent.clear();
    expect(add("key_1")).toBe(true);
  });

  test("are not kept in the list when they are sent", () => {
    const { add, connection, answers } = setUp();
    for (let sent = 0; sent < 1_000; sent++) {
      expect(add("key_1")).toBe(true);
      connection.unsent.clear();
    }
    expect(answers.bytes).toBeLessThanOrEqual(5 * SIZE);
  });

  test("that have waited longest must be read soon when the memory is used up", () => {
    const { add, connection } = setUp();
    for (const keyId of ["a", "b", "c", "d", "e"]) add(keyId);
    const [oldest] = connection.unsent;
    expect(add("f")).toBe(false);
    expect(connection.shortened).toHaveLength(2);
    expect(connection.shortened[0]).toBe(oldest as Request);
  });
});
