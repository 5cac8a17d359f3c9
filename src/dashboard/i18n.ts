// The languages of the page: which there are, which one the user gets, and the types of the texts.
import i18next from "i18next";
import { initReactI18next } from "react-i18next";
import type { alertEvents } from "./locales/en/alert-events.ts";
import type { history } from "./locales/en/history.ts";
import type { own } from "./locales/en/own.ts";
import { en } from "./locales/en/page.ts";
import type { player } from "./locales/en/player.ts";
import type { operatorEn } from "./locales/operator-en.ts";
import { addTexts } from "./locales/translation.ts";

export const LANGUAGES = ["en", "ru"] as const;
export type Language = (typeof LANGUAGES)[number];

declare module "i18next" {
  interface CustomTypeOptions {
    defaultNS: "shell";
    // The texts of the player's drawer, of the past, of alerts, of one's own page and of the operator's part are loaded with them.
    resources: typeof en &
      typeof operatorEn & {
        player: typeof player;
        history: typeof history;
        alertEvents: typeof alertEvents;
        own: typeof own;
      };
  }
}

/** The language is no secret, so it is stored for longer than the tab. */
const STORAGE_KEY = "gatehouse.language";

export async function startTranslation(): Promise<void> {
  await i18next.use(initReactI18next).init({
    resources: { en },
    lng: "en",
    fallbackLng: "en",
    defaultNS: "shell",
    // React escapes every value itself.
    interpolation: { escapeValue: false },
    react: { useSuspense: false },
  });
  // Without its texts the page starts in English.
  await showLanguage(findLanguage()).catch(() => {});
}

export function toLanguage(text: string | null | undefined): Language | undefined {
  return LANGUAGES.find((language) => text?.toLowerCase().startsWith(language));
}

/** Throws when the texts cannot be loaded; the page then keeps its language. */
export async function changeLanguage(language: Language): Promise<void> {
  await showLanguage(language);
  try {
    localStorage.setItem(STORAGE_KEY, language);
  } catch {
    // The browser can forbid storage; the choice then lasts until the page is closed.
  }
}

/** English is loaded with the page, because it also stands in for missing texts. */
async function showLanguage(language: Language): Promise<void> {
  if (language === "ru" && !i18next.hasResourceBundle("ru", "shell")) {
    const { ru } = await import("./locales/ru/page.ts");
    addTexts({ ru });
  }
  await i18next.changeLanguage(language);
  document.documentElement.lang = language;
}

function findLanguage(): Language {
  let stored: string | null = null;
  try {
    stored = localStorage.getItem(STORAGE_KEY);
  } catch {
    // The browser forbids storage.
  }
  return toLanguage(stored) ?? navigator.languages.map(toLanguage).find((found) => found !== undefined) ?? "en";
}
