// Copies a text to the clipboard, also on a page without TLS, where the browser offers no clipboard API.

/** Returns whether the text was copied. */
export async function copyText(text: string): Promise<boolean> {
  try {
    // Undefined over plain HTTP, except on localhost, although its type says otherwise.
    const clipboard: Clipboard | undefined = navigator.clipboard;
    if (clipboard) {
      await clipboard.writeText(text);
      return true;
    }
  } catch {
    // Forbidden; document.execCommand may still be allowed.
  }
  return copyWithSelection(text);
}

function copyWithSelection(text: string): boolean {
  const focused = document.activeElement;
  const area = document.createElement("textarea");
  area.value = text;
  area.readOnly = true;
  area.style.position = "fixed";
  area.style.opacity = "0";
  // The text area must be next to the focused element: a dialog does not let the focus leave it.
  (focused?.parentElement ?? document.body).append(area);
  try {
    area.select();
    return document.execCommand("copy");
  } catch {
    return false;
  } finally {
    area.remove();
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  }
}
