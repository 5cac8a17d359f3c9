// Remembers the results of a pure function of a short text, within a ceiling: when it is reached, all is forgotten.

export type Memo<T> = { (text: string): T; readonly size: () => number; readonly max: number };

export function memoize<T>(compute: (text: string) => T, entriesMax: number, lengthMax: number): Memo<T> {
  const kept = new Map<string, T>();
  const memo = (text: string) => {
    const known = kept.get(text);
    if (known !== undefined) return known;
    const result = compute(text);
    if (text.length <= lengthMax) {
      if (kept.size >= entriesMax) kept.clear();
      kept.set(text, result);
    }
    return result;
  };
  return Object.assign(memo, { size: () => kept.size, max: entriesMax });
}
