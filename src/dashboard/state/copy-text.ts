// Copies a text, also where the page is not a secure context and the browser gives it no clipboard.

/** Whether it worked. */
export async function copyText(text: string): Promise<boolean> {
  try {
    // Absent on plain http that is not localhost, whatever its type says.
    const clipboard: Clipboard | undefined = navigator.clipboard;
    if (clipboard) {
      await clipboard.writeText(text);
      return true;
    }
  } catch {
    // Not allowed to: the old way may still be.
  }
  return copySelected(text);
}

function copySelected(text: string): boolean {
  const focused = document.activeElement;
  const area = document.createElement("textarea");
  area.value = text;
  area.readOnly = true;
  area.style.position = "fixed";
  area.style.opacity = "0";
  // Beside what has the focus, not at the end of the page: a dialog takes a focus outside of it back at once.
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
