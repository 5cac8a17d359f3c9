// The address of the activity at a moment: `activity/at-1794722400000`. Pure.

const LAST_MS = 8.64e15;

export function writeMomentRoute(at: number): string {
  return `activity/at-${Math.floor(at)}`;
}

/** In epoch milliseconds; undefined for what follows `activity/` otherwise. */
export function parseMomentRoute(id: string): number | undefined {
  const [, digits] = /^at-(\d{1,16})$/.exec(id) ?? [];
  const at = Number(digits);
  return digits === undefined || at > LAST_MS ? undefined : at;
}
