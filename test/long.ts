// How many repetitions tests with random sequences make: few by default, many with npm test -- --long.

/** Set by scripts/test.ts; can be set by hand for a single file. */
export const IS_LONG = process.env.GATEHOUSE_TEST_LONG === "1";

export function repeat(counts: { readonly usual: number; readonly long: number }): number {
  return IS_LONG ? counts.long : counts.usual;
}
