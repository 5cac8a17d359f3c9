import { expect, test } from "bun:test";
import { chooseLanguage, formatDuration, STATUS_WORDS } from "./status-words.ts";

test.each([
  [null, null, "en"],
  [null, "ru-RU,ru;q=0.9,en-US;q=0.8,en;q=0.7", "ru"],
  [null, "en-US,en;q=0.9,ru;q=0.8", "en"],
  [null, "de, ru;q=0.5, en;q=0.3", "ru"],
  [null, "de", "en"],
  [null, "ru;q=0", "en"],
  ["en", "ru", "en"],
  ["ru", "en", "ru"],
  ["xx", "ru", "ru"],
  [null, `${"de,".repeat(200)}ru`, "en"],
])("?lang=%s with Accept-Language %s is answered in %s", (wanted, accepted, language) => {
  expect(chooseLanguage(wanted, accepted) as string).toBe(language);
});

test.each([
  [0, "0 s"],
  [-5, "0 s"],
  [59_999, "59 s"],
  [60_000, "1 min"],
  [3_600_000, "1 h"],
  [3 * 3_600_000 + 5 * 60_000, "3 h 5 min"],
  [2 * 86_400_000 + 4 * 3_600_000 + 59_000, "2 d 4 h"],
])("%d ms are %s", (ms, words) => {
  expect(formatDuration(ms, STATUS_WORDS.en)).toBe(words);
});
