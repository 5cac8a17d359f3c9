import { expect, test } from "bun:test";
import { listOutages } from "./public-statuses.ts";

test("an outage lasts from its change of state to the next one, and may not be over", () => {
  const changes = [
    { state: "unreachable", at: 90 },
    { state: "offline", at: 80 },
    { state: "online", at: 50 },
    { state: "offline", at: 40 },
  ] as const;
  expect(listOutages(changes, 0)).toEqual([
    { state: "unreachable", from: 90, to: null },
    { state: "offline", from: 80, to: 90 },
    { state: "offline", from: 40, to: 50 },
  ]);
});

test("an outage that began before the period belongs to it when it ended in it", () => {
  const changes = [
    { state: "online", at: 50 },
    { state: "offline", at: 10 },
    { state: "online", at: 8 },
    { state: "unreachable", at: 2 },
  ] as const;
  expect(listOutages(changes, 20)).toEqual([{ state: "offline", from: 10, to: 50 }]);
});

test("a state that is recorded twice is one outage, from the first of them", () => {
  const changes = [
    { state: "online", at: 50 },
    { state: "offline", at: 30 },
    { state: "offline", at: 10 },
  ] as const;
  expect(listOutages(changes, 0)).toEqual([{ state: "offline", from: 10, to: 50 }]);
  expect(listOutages([], 0)).toEqual([]);
});
