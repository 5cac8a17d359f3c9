// Listens to the keys of the page.
import { useEffect, useRef } from "react";
import { areKeysTaken, type KeyAction, readKeyPress } from "./key-table.ts";

const SEARCH_FIELDS = "#content input[type=search]";
const OPEN_DIALOGS = "[role=dialog], [role=alertdialog]";

/** `views` are the names of the views that the session has. */
export function useKeys(
  isOn: boolean,
  views: readonly string[],
  onAction: (action: KeyAction) => void,
): void {
  const latest = useRef({ views, onAction });
  latest.current = { views, onAction };
  useEffect(() => {
    if (!isOn) return;
    let wentAt: number | undefined;
    const read = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.repeat || event.isComposing) return;
      const target = event.target instanceof Element ? event.target : null;
      if (areKeysTaken(target, document.querySelector(OPEN_DIALOGS) !== null)) return;
      // Shift alone comes before the letter that it changes.
      if (event.key === "Shift") return;
      const reading = readKeyPress(event, latest.current.views, event.timeStamp, wentAt);
      wentAt = reading.wentAt;
      if (!reading.action) return;
      // Some browsers would open their own search.
      event.preventDefault();
      latest.current.onAction(reading.action);
    };
    addEventListener("keydown", read);
    return () => removeEventListener("keydown", read);
  }, [isOn]);
}

/** Puts the cursor into the first search field of the view, if it has one. */
export function focusSearch(): void {
  for (const field of document.querySelectorAll<HTMLInputElement>(SEARCH_FIELDS)) {
    if (!field.checkVisibility()) continue;
    field.focus();
    field.select();
    return;
  }
}
