// Ignores the second click of a double click when it hits another control than the first one did: the first click has moved
// the list, or opened a form, and the user did not aim at what is under the pointer now.

const CONTROLS = "button, a, input, select, textarea, [role=button], [role=menuitem], [role=option]";

export function ignoreStrayClicks(): void {
  let first: Element | null = null;
  addEventListener(
    "click",
    (event: MouseEvent) => {
      const control = event.target instanceof Element ? findControl(event.target) : null;
      if (event.detail <= 1) first = control;
      else if (control && control !== first) {
        event.preventDefault();
        event.stopImmediatePropagation();
      }
    },
    // Before every other listener.
    { capture: true },
  );
}

/** A click on a label is followed by one on its field. */
function findControl(element: Element): Element | null {
  return element.closest("label")?.control ?? element.closest(CONTROLS);
}
