// Which rows of a long table are in the page: those in view, some more on both sides, and the one with the focus.
import { type RefObject, useCallback, useEffect, useLayoutEffect, useMemo, useState } from "react";

/** The rows from `from` up to, but not including, `to`. */
export type RowSpan = { readonly from: number; readonly to: number };

/** Rows that are ready above and below the view, so that scrolling shows no empty space. */
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

/** Up to here every row is in the page, so that the browser's own search finds it. */
const ALL_ROWS_MAX = 200;
/** Until a row was measured. */
const ROW_HEIGHT_PX = 36;

export type RowSpans = { readonly spans: readonly RowSpan[]; readonly rowHeight: number };

/** `body` holds the rows, which all have the same height. `kept` is a row that stays in the page wherever it is. */
export function useRowSpans(body: RefObject<HTMLElement | null>, count: number, kept: number | undefined): RowSpans {
  const isLong = count > ALL_ROWS_MAX;
  const [inView, setInView] = useState<RowSpan>({ from: 0, to: ALL_ROWS_MAX / 2 });
  const [rowHeight, setRowHeight] = useState(ROW_HEIGHT_PX);

  const update = useCallback(() => {
    const top = body.current?.getBoundingClientRect().top;
    if (top === undefined) return;
    const next = findRowsInView(top, innerHeight, rowHeight, count);
    setInView((old) => (old.from === next.from && old.to === next.to ? old : next));
  }, [body, count, rowHeight]);
  const measure = useCallback(() => {
    const height = body.current?.querySelector("[aria-rowindex]")?.getBoundingClientRect().height;
    if (height) setRowHeight(height);
    update();
  }, [body, update]);

  useLayoutEffect(() => {
    if (isLong) measure();
  }, [isLong, measure]);
  useEffect(() => {
    if (!isLong) return;
    addEventListener("scroll", update, { passive: true });
    addEventListener("resize", measure);
    return () => {
      removeEventListener("scroll", update);
      removeEventListener("resize", measure);
    };
  }, [isLong, update, measure]);

  const spans = useMemo(
    () => (isLong ? listSpans(inView, kept, count) : [{ from: 0, to: count }]),
    [isLong, inView, kept, count],
  );
  return { spans, rowHeight };
}
