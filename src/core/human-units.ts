// Formats sizes and durations for people.

const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB"] as const;

/** For example "512 bytes", "1.5 MiB", "230 GiB". */
export function formatBytes(bytes: number): string {
  let amount = bytes;
  let unit = 0;
  while (amount >= 1024 && unit < UNITS.length - 1) {
    amount /= 1024;
    unit++;
  }
  const digits = unit === 0 || amount >= 100 ? 0 : 1;
  return `${amount.toFixed(digits).replace(/\.0$/, "")} ${UNITS[unit]}`;
}

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
    .filter(({ count }, index) => index === 0 || count > 0)
    .map(({ text }) => text)
    .join(" ");
}
