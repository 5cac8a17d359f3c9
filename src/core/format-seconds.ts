// Durations for people to read.

/** "3d 4h", "2h 5m", "5m 12s", "45s": the two largest units. */
export function formatSeconds(seconds: number): string {
  const parts = (
    [
      [Math.floor(seconds / 86_400), "d"],
      [Math.floor(seconds / 3_600) % 24, "h"],
      [Math.floor(seconds / 60) % 60, "m"],
      [seconds % 60, "s"],
    ] as const
  ).map(([count, unit]) => ({ count, text: `${count}${unit}` }));
  const first = parts.findIndex(({ count }) => count > 0);
  const shown = first < 0 ? parts.slice(-1) : parts.slice(first, first + 2);
  return shown
    .filter(({ count }, place) => place === 0 || count > 0)
    .map(({ text }) => text)
    .join(" ");
}
