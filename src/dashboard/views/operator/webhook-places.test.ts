import { expect, test } from "bun:test";
import { listPlaces } from "./webhook-places.ts";

const delivery = (at: number, status: number | null, ...ids: string[]) => ({
  at,
  event_ids: ids,
  status,
  duration_ms: 1,
  error: null,
});

test("a webhook can send again after the last event of each delivery that arrived, each once", () => {
  expect(
    listPlaces([
      delivery(6, 204, "c"),
      delivery(5, 404, "d"),
      delivery(4, null, "c"),
      delivery(3, 200, "b", "c"),
      delivery(2, 200, "a"),
      delivery(1, 200),
    ]),
  ).toEqual([
    { at: 6, after: "c" },
    { at: 2, after: "a" },
  ]);
});
