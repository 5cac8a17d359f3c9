// The judge of webhooks must see each kind of broken promise, or the long run proves nothing.
import { expect, test } from "bun:test";
import type { ToldEvent } from "../faults/ledger-judge.ts";
import { findWebhookFaults } from "./webhook-judge.ts";

const EVENTS = ["first", "a", "b", "c"].map((id): ToldEvent => {
  return { id, type: "player.joined", at: 1, seen_at: 2, backfill: id === "first", data: { Player: id } };
});

function play(ids: readonly string[], forged: readonly string[] = []): string[] {
  const accepted = ids.map((id) => ({
    id,
    body: JSON.stringify({ data: EVENTS.find((event) => event.id === id) }),
  }));
  return findWebhookFaults({ accepted, forged: [...forged] }, EVENTS);
}

test("every event in order, some more than once, is no fault", () => {
  expect(play(["a", "b", "b", "a", "b", "c"])).toEqual([]);
});

test.each([
  ["is missing at the end", ["a", "b"], ["1 events were never sent"]],
  ["is skipped", ["a", "c"], ["c was sent before the 1 events ahead of it"]],
  ["comes too early", ["b", "a", "b", "c"], ["b was sent before the 1 events ahead of it"]],
  ["is not in the ledger", ["a", "x", "b", "c"], ["x was sent and is not in the ledger"]],
])("an event that %s is a fault", (_, ids, faults) => {
  expect(play(ids)).toEqual(faults);
});

test("another content and a wrong signature are faults", () => {
  const accepted = ["a", "b", "c"].map((id) => ({ id, body: JSON.stringify({ data: EVENTS[1] }) }));
  expect(findWebhookFaults({ accepted, forged: ["No matching signature found"] }, EVENTS)).toEqual([
    "a webhook was not genuine: No matching signature found",
    "b was sent with another content",
    "c was sent with another content",
  ]);
});
