// Shows the whole text of a cell that is too narrow for it: as a title under the mouse, and in a box for the keyboard. When the
// keyboard enters a row, those of its cells that are cut become stops of the Tab key.
import { type FocusEvent, type KeyboardEvent, type MouseEvent, type RefObject, useState } from "react";

/** What can end with an ellipsis. */
const ENDS_WITH_ELLIPSIS = ".cell > :not(.mantine-VisuallyHidden-root), .game-text, .mantine-Text-root";

/** Where the box is in its frame: below the cell, or above it in the lower half of the frame. */
type Tip = { readonly text: string; readonly left: number; readonly top?: number; readonly bottom?: number };

export type CellTip = {
  readonly tip: Tip | undefined;
  readonly onMouseOver: (event: MouseEvent) => void;
  readonly onFocus: (event: FocusEvent) => void;
  readonly onBlur: () => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
};

export function useCellTip(frame: RefObject<HTMLElement | null>): CellTip {
  const [tip, setTip] = useState<Tip>();
  return {
    tip,
    onMouseOver({ target }) {
      const cell = findCell(target);
      if (!cell) return;
      if (isCut(cell)) cell.title = cell.innerText;
      else cell.removeAttribute("title");
    },
    onFocus({ target }) {
      const cell = findCell(target);
      for (const other of cell?.parentElement?.children ?? []) markAsStop(other as HTMLElement);
      setTip(cell && frame.current && isCut(cell) ? positionTip(cell, frame.current) : undefined);
    },
    onBlur: () => setTip(undefined),
    onKeyDown({ key }) {
      if (key === "Escape") setTip(undefined);
    },
  };
}

export function CellTipBox({ tip }: { readonly tip: Tip | undefined }) {
  if (!tip) return null;
  const { text, ...position } = tip;
  // Screen readers read the whole text of the cell anyway.
  return (
    <div className="cell-tip" style={position} aria-hidden>
      {text}
    </div>
  );
}

function findCell(target: EventTarget): HTMLElement | undefined {
  return (target instanceof Element && target.closest<HTMLElement>("tbody td, tbody th")) || undefined;
}

function isCut(cell: HTMLElement): boolean {
  return [...cell.querySelectorAll(ENDS_WITH_ELLIPSIS)].some(
    ({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1,
  );
}

function markAsStop(cell: HTMLElement): void {
  if (isCut(cell) && !cell.querySelector("a, button")) cell.tabIndex = 0;
}

function positionTip(cell: HTMLElement, frame: HTMLElement): Tip {
  const [box, around] = [cell.getBoundingClientRect(), frame.getBoundingClientRect()];
  const text = cell.innerText;
  const left = Math.max(0, box.left - around.left);
  return box.top - around.top < around.height / 2
    ? { text, left, top: box.bottom - around.top }
    : { text, left, bottom: around.bottom - box.top };
}
