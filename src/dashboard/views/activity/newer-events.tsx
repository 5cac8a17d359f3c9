// Keeps a list of events still while the user reads further down, and offers what is newer.
import { Button } from "@mantine/core";
import { type RefObject, useEffect } from "react";
import { useTranslation } from "react-i18next";
import { useFormat } from "../../state/use-format.ts";
import type { LedgerView } from "../../state/use-ledger.ts";

/** The list is read further down once it reaches this part of the window: below the header, the upper tenth. */
const TOP_OF_WINDOW = "-60px 0px -90% 0px";

/** Inside of the list, above its events. `frame` is the whole list. */
export function NewerEvents(props: {
  readonly ledger: LedgerView;
  readonly frame: RefObject<HTMLElement | null>;
}) {
  const { t } = useTranslation("activity");
  const format = useFormat();
  const { frame } = props;
  const { list, setHeld } = props.ledger;
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const observer = new IntersectionObserver(
      // In a tall window the list may begin in that part without being scrolled.
      (entries) => setHeld(scrollY > 0 && (entries.at(-1)?.isIntersecting ?? false)),
      { rootMargin: TOP_OF_WINDOW },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [frame, setHeld]);

  const count = list?.waiting.length ?? 0;
  if (!list || count === 0) return null;
  const n = format.number(count) + (count === list.max ? "+" : "");
  return (
    <div className="newer-events">
      <Button
        size="xs"
        radius="xl"
        onClick={() => {
          setHeld(false);
          scrollTo(0, 0);
          // The button goes away.
          frame.current?.focus({ preventScroll: true });
        }}
      >
        <span aria-hidden>↑</span>&nbsp;{t("newer", { count, n })}
      </Button>
    </div>
  );
}
