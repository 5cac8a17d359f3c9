// What is kept of a receiver's answer.
import { expect, test } from "bun:test";
import { ANSWER_CHARACTERS_MAX, cleanAnswer } from "./clean-answer.ts";

const TOKEN = "aW4tNDc_x-Zq81LmNoPqRsTuVwXyZ0123456789aBcDeFgHiJkLmNoPqRsTuVwXyZ012";
const URL_WITH_SECRETS = new URL(`https://hooks.example/api/webhooks/123456789/${TOKEN}?key=s%20cret&n=1#part`);

test("an answer keeps its words, on one line", () => {
  expect(cleanAnswer(" Not\r\n\tfound:\u0000 no\u202e such\u200b room ", URL_WITH_SECRETS)).toBe(
    "Not found: no such room",
  );
});

test("it is cut to 200 characters, and none of them is halved", () => {
  const cleaned = cleanAnswer("🙂 ".repeat(1_000), URL_WITH_SECRETS);
  expect(Array.from(cleaned)).toHaveLength(ANSWER_CHARACTERS_MAX);
  expect(cleaned.isWellFormed()).toBe(true);
});

test("nothing of the url's secret part is left, however the receiver repeats it", () => {
  const { href, pathname, search } = URL_WITH_SECRETS;
  const repeats = [
    `no ${href}!`,
    `no ${pathname}`,
    `no ${search}`,
    `bad key s cret, s%20cret`,
    `token ${TOKEN}`,
    `token ${encodeURIComponent(TOKEN)}`,
    `token ${btoa(TOKEN)}`,
    `token ${Buffer.from(TOKEN).toString("hex")}`,
    `webhook 123456789`,
    `whsec_${btoa("x".repeat(32))}`,
  ];
  for (const text of repeats) {
    const cleaned = cleanAnswer(text, URL_WITH_SECRETS);
    for (const secret of [TOKEN.slice(0, 12), TOKEN.slice(-12), "cret", "123456789", btoa(TOKEN).slice(0, 12)])
      expect([text, cleaned.includes(secret)]).toEqual([text, false]);
    expect(cleaned).not.toContain("whsec_eHh4");
    expect(cleaned).toContain("[redacted]");
  }
});
