import { expect, test } from "bun:test";
import { findBusiest, findStep, listDayNames, listZones } from "./heat-steps.ts";

test("the busiest hour has the highest step, nobody the lowest, and somebody never the lowest", () => {
  expect([0, 0.1, 10, 20, 20.01].map((value) => findStep(value, 20))).toEqual([0, 1, 3, 5, 5]);
  expect(findStep(0, 0)).toBe(0);
});

test("the busiest hour is found among what is known", () => {
  const table = Array.from({ length: 7 }, (_, day) =>
    Array.from({ length: 24 }, (_, hour) => (day === 5 && hour === 20 ? 31 : hour === 3 ? null : 2)),
  );
  expect(findBusiest(table)).toEqual({ day: 5, hour: 20, value: 31 });
  expect(findBusiest([[null, 0]])).toBeUndefined();
});

test("the week begins with Monday, in every language", () => {
  expect(listDayNames("en", "long")[0]).toBe("Monday");
  expect(listDayNames("ru", "long")[6]).toBe("воскресенье");
});

test("the own time zone comes first, and each once", () => {
  expect(listZones("Europe/Berlin", ["Africa/Cairo", "Europe/Berlin", "UTC"])).toEqual([
    "Europe/Berlin",
    "UTC",
    "Africa/Cairo",
  ]);
});
