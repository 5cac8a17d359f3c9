import { expect, test } from "bun:test";
import { SignedTexts } from "./signed-texts.ts";

const NOW = 1_800_000_000_000;
const TEXTS = new SignedTexts("a secret");
const SIGNED = { value: "5tqX0PpV3mYbL1nKcD7w", expiresAt: NOW + 1_000 };

test("a text is good until it expires, to the millisecond, for its purpose, and with the same secret", () => {
  const text = TEXTS.seal("chat", SIGNED);
  expect(TEXTS.open("chat", text, NOW + 999)).toEqual(SIGNED);
  expect(TEXTS.open("chat", text, NOW + 1_000)).toBeUndefined();
  expect(TEXTS.open("passkey", text, NOW)).toBeUndefined();
  expect(new SignedTexts("another").open("chat", text, NOW)).toBeUndefined();
});

test("a text with any other character is refused", () => {
  const text = TEXTS.seal("chat", SIGNED);
  for (let place = 0; place < text.length; place++) {
    for (const other of "0aZ_-.") {
      const altered = text.slice(0, place) + other + text.slice(place + 1);
      if (altered !== text) expect(TEXTS.open("chat", altered, NOW)).toBeUndefined();
    }
  }
  for (const other of ["", ".", "..", `${text}A`, ` ${text}`, text.slice(0, -1), `${text}\n`])
    expect(TEXTS.open("chat", other, NOW)).toBeUndefined();
});
