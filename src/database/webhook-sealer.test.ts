import { expect, test } from "bun:test";
import { createWebhookSealer, Sealer } from "./sealer.ts";

const sealer = createWebhookSealer(new Sealer("a secret"));
const URL = "https://discord.test/api/webhooks/1/t0ken";

test("a sealed text is opened with the same secret, for the same webhook and part, and shows nothing", () => {
  const sealed = sealer.seal(URL, "hook_a", "url");
  expect(sealed).toMatch(/^[A-Za-z0-9_-]+$/);
  expect(Buffer.from(sealed, "base64url").toString("latin1")).not.toContain("t0ken");
  expect(sealer.open(sealed, "hook_a", "url")).toBe(URL);
  const other = createWebhookSealer(new Sealer("another secret"));
  expect(() => other.open(sealed, "hook_a", "url")).toThrow();
  expect(() => sealer.open(sealed, "hook_b", "url")).toThrow();
  expect(() => sealer.open(sealed, "hook_a", "secret")).toThrow();
  expect(() => sealer.open("", "hook_a", "url")).toThrow();
});
