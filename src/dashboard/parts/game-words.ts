// What went wrong at the game API, in the reader's language, and in whose words.
import { useCallback } from "react";
import { useTranslation } from "react-i18next";

const CODES = [
  0, 1001, 1002, 2000, 2001, 2002, 2003, 2004, 3001, 3002, 4000, 4001, 4002, 4003, 9998, 9999,
] as const;
/** Where the game API has no words, Gatehouse has: all of its sentences begin so. */
const OWN_WORDS = /^(?:The game API\b|The game server was deleted|Gatehouse\b)/;

/** The meaning of a code of the game API; undefined when it is newer than this page. */
export function useCodeMeaning(): (code: number | undefined) => string | undefined {
  const { t } = useTranslation("commands");
  return useCallback(
    (code) => {
      const known = CODES.find((other) => other === code);
      return known === undefined ? undefined : t(`code.${known}`);
    },
    [t],
  );
}

/** Whether the game API itself has said this, and not Gatehouse about it. */
export function isSaidByGame(message: string): boolean {
  return !OWN_WORDS.test(message);
}

/** Two sentences: what the code means, and what was said. */
export function useGameTrouble(): (code: number | undefined, message: string | undefined) => string {
  const { t } = useTranslation("status");
  const meaningOf = useCodeMeaning();
  return useCallback(
    (code = 0, message = "") => {
      const meaning = meaningOf(code);
      const number = code === 0 ? "" : ` (${code})`;
      const sentence = meaning === undefined ? "" : `${toSentence(meaning)}${number}.`;
      const said = message || (sentence ? "" : t("text.noMessage", { code }));
      const credited = said && isSaidByGame(said) ? t("text.game-error", { message: said }) : said;
      return [sentence, credited].filter((part) => part !== "").join(" ");
    },
    [t, meaningOf],
  );
}

function toSentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
