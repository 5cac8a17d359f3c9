// What a plot needs to know about a line. Pure.

/** Null where nothing is known. */
export type Line = (number | null)[];

export type Range = { readonly now: number; readonly low: number; readonly high: number };

/** The last, lowest and highest value; undefined for a line without values. */
export function describeLine(line: Line): Range | undefined {
  let range: Range | undefined;
  for (const now of line) {
    if (now === null) continue;
    range = { now, low: Math.min(range?.low ?? now, now), high: Math.max(range?.high ?? now, now) };
  }
  return range;
}

/** The places of values without a neighbour: no line goes through them, so they need a dot. */
export function listLonePlaces(line: ArrayLike<number | null | undefined>): number[] {
  const lone: number[] = [];
  for (let place = 0; place < line.length; place++) {
    const isKnown = (at: number) => line[at] !== null && line[at] !== undefined;
    if (isKnown(place) && !isKnown(place - 1) && !isKnown(place + 1)) lone.push(place);
  }
  return lone;
}
