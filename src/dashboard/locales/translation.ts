// Adds texts to the page. A translation has every key of the English texts, and the additional plural forms of Russian.
import i18next from "i18next";

type PluralForms<K> = K extends `${infer Base}_other` ? `${Base}_few` | `${Base}_many` : never;

export type Translation<T> = {
  readonly [K in keyof T]: T[K] extends string ? string : Translation<T[K]>;
} & { readonly [K in keyof T as PluralForms<K>]: string };

/** Adds texts that are loaded later than the page, by language and namespace. */
export function addTexts(texts: Readonly<Record<string, Readonly<Record<string, object>>>>): void {
  for (const [language, bundles] of Object.entries(texts)) {
    for (const [name, bundle] of Object.entries(bundles)) i18next.addResourceBundle(language, name, bundle);
  }
}
