// A frame in which a wide table scrolls sideways. It can be focused, so that the keyboard can scroll it.
import type { ReactNode } from "react";

export function TableFrame({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className="table-frame" aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}
