// Which webhooks may send now.
import { expect, test } from "bun:test";
import { chooseTurns, FAILING_REQUESTS_MAX, HOST_REQUESTS_MAX, REQUESTS_MAX } from "./turns.ts";

const taker = (id: number, host = `host-${id}`, isFailing = false) => ({ id, host, isFailing });
const takers = (count: number, host?: string, isFailing?: boolean) =>
  Array.from({ length: count }, (_, id) => taker(id, host, isFailing));

test("those that wait longest come first, and no more than there is room for", () => {
  expect(chooseTurns(takers(3), []).map(({ id }) => id)).toEqual([0, 1, 2]);
  expect(chooseTurns(takers(100), [])).toHaveLength(REQUESTS_MAX);
  expect(chooseTurns(takers(100), takers(30))).toHaveLength(REQUESTS_MAX - 30);
  expect(chooseTurns(takers(100), takers(REQUESTS_MAX))).toEqual([]);
});

test("webhooks that fail leave room for the others", () => {
  const healthy = taker(1_000);
  const chosen = chooseTurns([...takers(100, undefined, true), healthy], []);
  expect(chosen).toHaveLength(FAILING_REQUESTS_MAX + 1);
  expect(chosen.at(-1)).toBe(healthy);
  expect(chooseTurns(takers(1, undefined, true), takers(FAILING_REQUESTS_MAX, undefined, true))).toEqual([]);
});

test("one host that hangs leaves room for the others, however many webhooks it has", () => {
  const other = taker(1_000);
  const chosen = chooseTurns([...takers(100, "dead.example"), other], takers(1, "dead.example"));
  expect(chosen).toHaveLength(HOST_REQUESTS_MAX);
  expect(chosen.at(-1)).toBe(other);
});
