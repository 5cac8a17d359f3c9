// Finds the locale for times and numbers: the language of the page with the region of the user.

/** The browser's first locale in that language, or else the language with the region of the browser's first locale. */
export function findRegion(
  language: string,
  preferred: readonly string[] = globalThis.navigator?.languages ?? [],
): string {
  const known = preferred.filter(isLocale);
  const own = known.find((name) => name.toLowerCase().split("-")[0] === language);
  if (own !== undefined) return own;
  const region = known[0] === undefined ? undefined : new Intl.Locale(known[0]).region;
  return region === undefined ? language : `${language}-${region}`;
}

/** Some systems report a locale that Intl does not accept, such as "en-US@posix". */
function isLocale(name: string): boolean {
  try {
    return Intl.getCanonicalLocales(name).length === 1;
  } catch {
    return false;
  }
}
