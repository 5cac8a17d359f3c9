// A clock that all threads share and that nobody can set.

export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}
