// A frame in which a wide table scrolls sideways. It can have the focus, so that the keyboard can scroll it.
import type { ReactNode } from "react";

export function TableFrame({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll it
    <section className="table-frame" aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}
