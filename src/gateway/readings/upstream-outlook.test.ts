// What the command dispatcher learns from other instances, and what it leaves alone.
import { beforeEach, expect, test } from "bun:test";
import {
  codeOf,
  FRESH_MS,
  good,
  nameOf,
  openRelay,
  resetStage,
  server,
  stage,
} from "../../../test/relay-stage.ts";
import { CLOSED_BREAKER } from "../../core/breaker.ts";
import { UNKNOWN_BUDGET } from "../../core/budget.ts";
import type { RelayShare } from "../../core/ports/relay-share.ts";
import { NO_CODE } from "../../core/upstream-codes.ts";

beforeEach(resetStage);

/** Another instance has just read every server. */
function shareReading(): RelayShare {
  const reading = good({}, "Another instance's town");
  if (!("parts" in reading)) throw new Error("this was no reading");
  const status = { remembered: null, breaker: CLOSED_BREAKER, breakerFailure: null, lastFailure: null };
  return {
    peek: async () => ({
      version: 1,
      status: { ...status, keyRevision: 1, lastCallAt: stage.now },
      reading: { parts: reading.parts, fetchedAt: stage.now, keyRevision: 1 },
    }),
    changeBudget: async () => UNKNOWN_BUDGET,
    findGlobalKeyFailure: async () => null,
  } as Partial<RelayShare> as RelayShare;
}

test("the dispatcher's catch-up gives readers what another instance has read", async () => {
  const relay = openRelay({}, shareReading());
  await relay.outlook.catchUpOn(server(), stage.now);
  expect(nameOf(await relay.read(server(), stage.now))).toBe("Another instance's town");
});

test("nobody reads a parked server, even when another instance with its upstream has just read it", async () => {
  const relay = openRelay({}, shareReading());
  const parked = { ...server(), isSimulated: true };
  await relay.outlook.catchUpOn(parked, stage.now);
  expect(codeOf(await relay.read(parked, stage.now + FRESH_MS / 2))).toBe(NO_CODE);
});
