// The languages of the page: which there are, which one the reader gets, and the typed `t` of every namespace.
import i18next from "i18next";
import { initReactI18next } from "react-i18next";
import { en } from "./locales/en.ts";
import { ru } from "./locales/ru.ts";

export const LANGUAGES = ["en", "ru"] as const;
export type Language = (typeof LANGUAGES)[number];

declare module "i18next" {
  interface CustomTypeOptions {
    defaultNS: "shell";
    resources: typeof en;
  }
}

/** A matter of taste, no secret: it may outlive the tab. */
const KEPT_AS = "gatehouse.language";

export async function startTranslation(): Promise<void> {
  await i18next.use(initReactI18next).init({
    resources: { en, ru },
    lng: findLanguage(),
    fallbackLng: "en",
    defaultNS: "shell",
    // React shows every value as text.
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
    localStorage.setItem(KEPT_AS, language);
  } catch {
    // Storage can be forbidden; then the choice lasts as long as the page.
  }
}

function findLanguage(): Language {
  let kept: string | null = null;
  try {
    kept = localStorage.getItem(KEPT_AS);
  } catch {
    // As above.
  }
  return toLanguage(kept) ?? navigator.languages.map(toLanguage).find((found) => found !== undefined) ?? "en";
}
