// Formats sizes for people.

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
