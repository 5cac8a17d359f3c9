// The type of a translation: every key of the English texts, and the additional plural forms of Russian.

type PluralForms<K> = K extends `${infer Base}_other` ? `${Base}_few` | `${Base}_many` : never;

export type Translation<T> = {
  readonly [K in keyof T]: T[K] extends string ? string : Translation<T[K]>;
} & { readonly [K in keyof T as PluralForms<K>]: string };
