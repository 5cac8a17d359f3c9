// A refused global key is known to all instances with the same identity, even when the shared store was unavailable.
import { describe, expect, test } from "bun:test";
import { StoreUnavailable } from "../../core/errors.ts";
import type { RelayShare } from "../../core/ports/relay-share.ts";
import type { UpstreamFailure } from "../../core/ports/upstream.ts";
import { GlobalKey } from "./global-key.ts";

const REFUSED: UpstreamFailure = { code: 2003, message: "refused", isRateLimit: false };

/** The part of the relay share that is about the global key. */
function startShare() {
  const failures = new Map<string, UpstreamFailure>();
  const state = { isAway: false };
  const check = () => {
    if (state.isAway) throw new StoreUnavailable("away");
  };
  const share: Pick<RelayShare, "findGlobalKeyFailure" | "saveGlobalKeyFailure"> = {
    async findGlobalKeyFailure(identity) {
      check();
      return failures.get(identity) ?? null;
    },
    async saveGlobalKeyFailure(identity, failure) {
      check();
      if (failure) failures.set(identity, failure);
      else failures.delete(identity);
    },
  };
  const open = (identity = "a", isUsed = true) => new GlobalKey({ isUsed, identity, share });
  return { state, open };
}

describe("instances that share a global key", () => {
  test("know a refusal that one of them got, also those that start later, until one of them retries", async () => {
    const { open } = startShare();
    const [one, two] = [open(), open()];
    one.learnFailure(REFUSED);
    expect(one.failure).toEqual(REFUSED);
    const late = open();
    for (const key of [two, late]) {
      await key.catchUp();
      expect(key.failure).toEqual(REFUSED);
    }
    two.retry();
    for (const key of [one, two, late]) {
      await key.catchUp();
      expect(key.failure).toBeUndefined();
    }
  });

  test("ignore a refusal of another key or game API, and any refusal without a global key", async () => {
    const { open } = startShare();
    open("a").learnFailure(REFUSED);
    for (const key of [open("b"), open("a", false)]) {
      await key.catchUp();
      expect(key.failure).toBeUndefined();
    }
  });

  test("learn of a refusal that happened while the store was unavailable as soon as it is available", async () => {
    const { open, state } = startShare();
    const [one, two] = [open(), open()];
    state.isAway = true;
    one.learnFailure(REFUSED);
    await one.catchUp();
    expect(one.failure).toEqual(REFUSED);
    state.isAway = false;
    await one.catchUp();
    await two.catchUp();
    expect(two.failure).toEqual(REFUSED);
    state.isAway = true;
    two.retry();
    await two.catchUp();
    expect(two.failure).toBeUndefined();
    state.isAway = false;
    await two.catchUp();
    await one.catchUp();
    expect(one.failure).toBeUndefined();
  });

  test("prefer their own newer result to a shared one that arrives later", async () => {
    const { open } = startShare();
    const key = open();
    const catchingUp = key.catchUp();
    key.learnFailure(REFUSED);
    await catchingUp;
    expect(key.failure).toEqual(REFUSED);
  });
});

test("a single instance saves a refusal, and deletes it when it retries", () => {
  const saved: (UpstreamFailure | null)[] = [];
  const notes = {
    globalKeyFailure: null,
    saveGlobalKeyFailure: (failure: UpstreamFailure | null) => void saved.push(failure),
  };
  const key = new GlobalKey({ isUsed: true, identity: "a", notes });
  key.learnFailure(REFUSED);
  key.retry();
  expect(saved).toEqual([REFUSED, null]);
  const next = new GlobalKey({
    isUsed: true,
    identity: "a",
    notes: { ...notes, globalKeyFailure: REFUSED },
  });
  expect(next.failure).toEqual(REFUSED);
});
