// Whose habits of writing times and numbers the page follows: the reader's region's, in the language of the page.

/** The browser's own locale of that language; failing that, the language as it is written where the reader lives. */
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

/** Some systems name theirs in a way that nothing else understands: "en-US@posix". */
function isLocale(name: string): boolean {
  try {
    return Intl.getCanonicalLocales(name).length === 1;
  } catch {
    return false;
  }
}
