import { expect, test } from "bun:test";
import { hueOf } from "./server-look.tsx";

test("a server keeps its hue, and many servers share no single one", () => {
  expect(hueOf("srv_1")).toBe(hueOf("srv_1"));
  const hues = new Set(Array.from({ length: 100 }, (_, index) => hueOf(`srv_${index}`)));
  expect(hues.size).toBe(9);
  expect(Math.min(...hues)).toBe(145);
  expect(Math.max(...hues)).toBe(321);
});
