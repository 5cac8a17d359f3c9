// Describes an error of the game API in the user's language, and quotes the message of the game API.
import { useCallback } from "react";
import { useTranslation } from "react-i18next";

const CODES = [0, 1001, 1002, 2000, 2001, 2002, 2003, 2004, 3001, 3002, 4000, 4001, 4002, 4003, 9998, 9999] as const;
/** The beginnings of the messages that Gatehouse writes when the game API sends none. */
const GATEHOUSE_MESSAGE = /^(?:The game API\b|The game server was deleted|Gatehouse\b)/;

/** The meaning of an error code of the game API; undefined for an unknown code. */
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

/** Whether a message comes from the game API and not from Gatehouse. */
export function isGameMessage(message: string): boolean {
  return !GATEHOUSE_MESSAGE.test(message);
}

/** Two sentences: the meaning of the code, and the message. */
export function useGameErrorText(): (code: number | undefined, message: string | undefined) => string {
  const { t } = useTranslation("status");
  const meaningOf = useCodeMeaning();
  return useCallback(
    (code = 0, message = "") => {
      const meaning = meaningOf(code);
      const number = code === 0 ? "" : ` (${code})`;
      const sentence = meaning === undefined ? "" : `${toSentence(meaning)}${number}.`;
      const shown = message || (sentence ? "" : t("text.noMessage", { code }));
      const quoted = shown && isGameMessage(shown) ? t("text.game-error", { message: shown }) : shown;
      return [sentence, quoted].filter((part) => part !== "").join(" ");
    },
    [t, meaningOf],
  );
}

function toSentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
