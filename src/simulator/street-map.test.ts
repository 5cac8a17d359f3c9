// Addresses match positions, and nobody leaves the map.
import { expect, test } from "bun:test";
import { Random } from "./random.ts";
import { addressOf, choosePlace, MAP_HALF, pointOf, STREETS, travel } from "./street-map.ts";

test("travelling any distance stays on the map and on the street of the address", () => {
  const random = new Random(7);
  let place = choosePlace(random);
  for (let i = 0; i < 20_000; i++) {
    place = travel(place, random.fraction() * 40, random);
    const { x, z } = pointOf(place);
    expect(Math.max(Math.abs(x), Math.abs(z))).toBeLessThanOrEqual(MAP_HALF);
    const street = STREETS.find(({ name }) => name === addressOf(place).streetName);
    const across = street?.runs === "x" ? z : x;
    expect(Math.abs(across - (street?.at ?? Number.NaN))).toBeLessThanOrEqual(6);
  }
});

test("building numbers rise along a street: odd on one side, even on the other", () => {
  for (const street of STREETS) {
    let last = 0;
    for (let along = -1500; along <= 1500; along += 20) {
      const number = Number(addressOf({ street, along, direction: 1 }).buildingNumber);
      const opposite = Number(addressOf({ street, along, direction: -1 }).buildingNumber);
      expect(number).toBeGreaterThanOrEqual(last);
      expect([number % 2, opposite % 2]).toEqual([1, 0]);
      last = number;
    }
  }
});

test("a postal code is one block: places that share it are close to each other", () => {
  const random = new Random(3);
  const first = new Map<string, { x: number; z: number }>();
  for (let i = 0; i < 5000; i++) {
    const place = choosePlace(random);
    const point = pointOf(place);
    const other = first.get(addressOf(place).postalCode) ?? point;
    first.set(addressOf(place).postalCode, other);
    expect(Math.max(Math.abs(other.x - point.x), Math.abs(other.z - point.z))).toBeLessThan(300);
  }
  expect(first.size).toBeGreaterThan(100);
});
