// The languages of the page: which there are, which one the user gets, and the types of the texts.
import i18next from "i18next";
import { initReactI18next } from "react-i18next";
import type { audit } from "./locales/en/audit.ts";
import type { player } from "./locales/en/player.ts";
import type { webhooks } from "./locales/en/webhooks.ts";
import { en } from "./locales/en.ts";
import { ru } from "./locales/ru.ts";

export const LANGUAGES = ["en", "ru"] as const;
export type Language = (typeof LANGUAGES)[number];

declare module "i18next" {
  interface CustomTypeOptions {
    defaultNS: "shell";
    // The texts of the player's drawer and of some views are loaded with them.
    resources: typeof en & { audit: typeof audit; player: typeof player; webhooks: typeof webhooks };
  }
}

/** The language is no secret, so it is stored for longer than the tab. */
const STORAGE_KEY = "gatehouse.language";

export async function startTranslation(): Promise<void> {
  await i18next.use(initReactI18next).init({
    resources: { en, ru },
    lng: findLanguage(),
    fallbackLng: "en",
    defaultNS: "shell",
    // React escapes every value itself.
    interpolation: { escapeValue: false },
    react: { useSuspense: false },
  });
  document.documentElement.lang = i18next.language;
}

export function toLanguage(text: string | null | undefined): Language | undefined {
  return LANGUAGES.find((language) => text?.toLowerCase().startsWith(language));
}

export async function changeLanguage(language: Language): Promise<void> {
  await i18next.changeLanguage(language);
  document.documentElement.lang = language;
  try {
    localStorage.setItem(STORAGE_KEY, language);
  } catch {
    // The browser can forbid storage; the choice then lasts until the page is closed.
  }
}

function findLanguage(): Language {
  let stored: string | null = null;
  try {
    stored = localStorage.getItem(STORAGE_KEY);
  } catch {
    // The browser forbids storage.
  }
  return (
    toLanguage(stored) ?? navigator.languages.map(toLanguage).find((found) => found !== undefined) ?? "en"
  );
}
