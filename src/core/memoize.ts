// Caches the results of a pure function of a text. A full cache is cleared.

export type Memoized<T> = { (text: string): T; readonly size: () => number; readonly max: number };

/** Texts longer than `lengthMax` are not cached. */
export function memoize<T>(compute: (text: string) => T, entriesMax: number, lengthMax: number): Memoized<T> {
  const cache = new Map<string, T>();
  const memoized = (text: string) => {
    // Looking up a long text would cost time as well.
    if (text.length > lengthMax) return compute(text);
    const cached = cache.get(text);
    if (cached !== undefined) return cached;
    const result = compute(text);
    if (cache.size >= entriesMax) cache.clear();
    cache.set(text, result);
    return result;
  };
  return Object.assign(memoized, { size: () => cache.size, max: entriesMax });
}
