// Several keys at once: which server is shown, what is kept for the tab, and what becomes of a refused key.
import { describe, expect, test } from "bun:test";
import {
  addKey,
  findShown,
  type HeldKey,
  holdProblem,
  holdSession,
  listKeysToSave,
  openRing,
  refuseKey,
  removeKey,
  replaceKey,
  showKey,
} from "./key-ring.ts";
import type { Session, SignInProblem } from "./session.ts";

const PROBLEM: SignInProblem = { text: "invalidKey", retryAt: 0, code: 5008 };

function hold(name: string, saved?: string): HeldKey {
  const ownKey = { key_id: `key_${name}`, label: name, server_name: name };
  return holdSession({ kind: "caller", ownKey } as Session, saved);
}

describe("a ring of keys", () => {
  test("shows the first key that can be used", () => {
    const refused = holdProblem(PROBLEM, "gth_a");
    const good = hold("b", "gth_b");
    expect(findShown(openRing([refused, good]))).toBe(good);
    expect(findShown(openRing([refused]))).toBeUndefined();
  });

  test("shows an added key, and does not hold the same key twice", () => {
    const first = hold("a", "gth_a");
    const two = addKey(openRing([first]), hold("b"));
    expect(findShown(two)?.name).toBe("b");
    const again = addKey(two, hold("a"));
    expect(again.keys.map(({ name }) => name)).toEqual(["a", "b"]);
    expect(findShown(again)?.id).toBe(first.id);
    expect(findShown(again)?.saved).toBe("gth_a");
  });

  test("keeps the saved keys only, the shown one first", () => {
    const [a, b, c] = [hold("a", "gth_a"), hold("b"), hold("c", "gth_c")];
    const ring = openRing([a, b, c]);
    expect(listKeysToSave(ring)).toEqual(["gth_a", "gth_c"]);
    expect(listKeysToSave(showKey(ring, c.id))).toEqual(["gth_c", "gth_a"]);
    expect(listKeysToSave(removeKey(ring, a.id))).toEqual(["gth_c"]);
  });

  test("goes on with another server when the shown key is removed, and with none when it was the last", () => {
    const [a, b] = [hold("a"), hold("b")];
    const left = removeKey(openRing([a, b]), a.id);
    expect(findShown(left)).toBe(b);
    expect(findShown(removeKey(left, b.id))).toBeUndefined();
    expect(findShown(removeKey(openRing([a, b]), b.id))).toBe(a);
  });

  test("holds a refused key with its name and the reason, and cannot show it", () => {
    const [a, b] = [hold("a"), hold("b")];
    const ring = refuseKey(openRing([a, b]), a.id, PROBLEM);
    expect(findShown(ring)).toBe(b);
    expect(ring.keys[0]).toMatchObject({ name: "a", session: undefined, problem: PROBLEM });
    expect(findShown(showKey(ring, a.id))).toBe(b);
  });

  test("a key that works again takes its old place", () => {
    const waiting = holdProblem(PROBLEM, "gth_a");
    const b = hold("b");
    const ring = replaceKey(openRing([waiting, b]), waiting.id, hold("a", "gth_a"));
    expect(ring.keys.map(({ id, name, problem }) => [id, name, problem])).toEqual([
      [waiting.id, "a", undefined],
      [b.id, "b", undefined],
    ]);
    expect(findShown(ring)).toBe(b);
  });
});
