// Which rows of a long table are in the page: those in view, some more on both sides, and the one with the focus. Pure.

/** The rows from `from` up to, but not including, `to`. */
export type RowSpan = { readonly from: number; readonly to: number };

/** Rows that are ready above and below the view, so that scrolling shows no empty place. */
const EXTRA_ROWS = 12;
/** The first and the last row change in steps, so that not every scrolled row renders the table again. */
const STEP_ROWS = 6;

/** `top` is where the first row begins, measured from the top of the window, in pixels. */
export function findRowsInView(top: number, windowHeight: number, rowHeight: number, count: number): RowSpan {
  const first = Math.floor(-top / rowHeight) - EXTRA_ROWS;
  const last = Math.ceil((windowHeight - top) / rowHeight) + EXTRA_ROWS;
  const to = Math.min(count, Math.max(0, Math.ceil(last / STEP_ROWS) * STEP_ROWS));
  const from = Math.min(to, Math.max(0, Math.floor(first / STEP_ROWS) * STEP_ROWS));
  return { from, to };
}

/** The spans in order. A row that is kept outside of the view is a span of its own. */
export function listSpans(inView: RowSpan, kept: number | undefined, count: number): readonly RowSpan[] {
  const { from, to } = { from: Math.min(inView.from, count), to: Math.min(inView.to, count) };
  const spans = from < to ? [{ from, to }] : [];
  if (kept === undefined || kept < 0 || kept >= count || (kept >= from && kept < to)) return spans;
  const single = { from: kept, to: kept + 1 };
  return kept < from ? [single, ...spans] : [...spans, single];
}
