// Keeps a long table short in the page: follows the scroll position and says which rows to render.
import { type RefObject, useCallback, useEffect, useLayoutEffect, useMemo, useState } from "react";
import { findRowsInView, listSpans, type RowSpan } from "./row-spans.ts";

/** Up to here every row is in the page, so that the browser's own search finds it. */
const ALL_ROWS_MAX = 200;
/** Until a row was measured. */
const ROW_HEIGHT_PX = 36;

export type RowSpans = { readonly spans: readonly RowSpan[]; readonly rowHeight: number };

/** `body` holds the rows, which all have the same height. `kept` is a row that stays in the page wherever it is. */
export function useRowSpans(
  body: RefObject<HTMLElement | null>,
  count: number,
  kept: number | undefined,
): RowSpans {
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
