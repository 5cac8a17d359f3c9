import { expect, test } from "bun:test";
import { findPlace } from "./waiting-calls.tsx";

test("the street is shown, or else the position, and what is not known is not made up", () => {
  const street = { PostalCode: "206", BuildingNumber: "12", StreetName: "Park Street" };
  expect(findPlace({ position: street })).toBe("206 · 12 Park Street");
  expect(findPlace({ position: { LocationX: 10.4, LocationZ: -7.6 } })).toBe("(10, -8)");
  expect(findPlace({ position: {} })).toBeUndefined();
  expect(findPlace({ position: null })).toBeUndefined();
});
