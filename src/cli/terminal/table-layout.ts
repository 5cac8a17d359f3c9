// Decides how wide the columns of a table may be in a terminal, and shortens wider texts. Pure: text in, text out.

export type Column = {
  readonly title: string;
  /** Never shortened: part of an id is of no use. */
  readonly isWhole?: boolean;
  /** Left out where there is no room for it; another command shows it. */
  readonly isExtra?: boolean;
};

export const COLUMN_GAP = 2;
const COLUMN_WIDTH_MIN = 6;
/** Text that is shortened to less than this is hard to recognise. */
const READABLE_WIDTH = 20;

/** The width of each column, so that every row fits; undefined when that is impossible. */
export function fitColumns(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  widthMax: number,
): number[] | undefined {
  const widths = columns.map(({ title }, index) =>
    rows.reduce((widest, row) => Math.max(widest, Bun.stringWidth(row[index] ?? "")), Bun.stringWidth(title)),
  );
  const floors = columns.map(({ title, isWhole }, index) => {
    const width = widths[index] ?? 0;
    return isWhole ? width : Math.min(width, Math.max(COLUMN_WIDTH_MIN, Bun.stringWidth(title)));
  });
  let excess = sum(widths) + COLUMN_GAP * (columns.length - 1) - widthMax;
  while (excess > 0) {
    // The widest column shrinks first, so that short columns stay readable.
    const widest = findWidest(widths, floors);
    if (widest === undefined) return undefined;
    widths[widest] = (widths[widest] ?? 0) - 1;
    excess -= 1;
  }
  return widths;
}

/** The places of the columns to print: extra ones only as long as every column keeps a readable width. */
export function chooseColumns(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  widthMax: number,
): number[] {
  const needs = columns.map(({ title, isWhole }, index) => {
    const width = rows.reduce((widest, row) => Math.max(widest, Bun.stringWidth(row[index] ?? "")), 0);
    return Math.max(Bun.stringWidth(title), isWhole ? width : Math.min(width, READABLE_WIDTH));
  });
  const chosen = new Set(columns.flatMap(({ isExtra }, index) => (isExtra ? [] : [index])));
  for (const [index, { isExtra }] of columns.entries()) {
    if (!isExtra) continue;
    const total = sum([...chosen, index].map((each) => (needs[each] ?? 0) + COLUMN_GAP)) - COLUMN_GAP;
    if (total <= widthMax) chosen.add(index);
  }
  return [...columns.keys()].filter((index) => chosen.has(index));
}

/** The text, or its beginning with an ellipsis when it is too wide. */
export function shorten(text: string, widthMax: number): string {
  if (Bun.stringWidth(text) <= widthMax) return text;
  let kept = "";
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    // Measured as a whole: characters can be wider together than one by one.
    if (Bun.stringWidth(`${kept}${segment}…`) > widthMax) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** The text in lines of at most this width; a longer word is not broken. */
export function wrap(text: string, widthMax: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (Bun.stringWidth(longer) <= widthMax) {
      line = longer;
      continue;
    }
    if (line !== "") lines.push(line);
    line = word;
  }
  return [...lines, line];
}

function findWidest(widths: readonly number[], floors: readonly number[]): number | undefined {
  let widest: number | undefined;
  for (const [index, width] of widths.entries()) {
    if (width <= (floors[index] ?? 0)) continue;
    if (widest === undefined || width > (widths[widest] ?? 0)) widest = index;
  }
  return widest;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
