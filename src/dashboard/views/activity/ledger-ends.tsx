// Both ends of a list of events: a button for what is newer, and one for what is older, or where the ledger ends.

import { Button, Stack } from "@mantine/core";
import { type RefObject, useEffect } from "react";
import { useTranslation } from "react-i18next";
import { FailureLine } from "../../parts/states.tsx";
import { Note } from "../../parts/text/plain-text.tsx";
import type { LedgerView } from "../../state/ledger/use-ledger.ts";
import { useFormat } from "../../state/time/use-format.ts";

export function LedgerEnd(props: {
  readonly ledger: LedgerView;
  /** Whether none of the loaded events is shown. */
  readonly isEmpty: boolean;
  /** Whether older events are looked through for some that fit. */
  readonly isSearch: boolean;
  readonly onLoad: () => void;
}) {
  const { t } = useTranslation("activity");
  const format = useFormat();
  const { ledger, isEmpty, isSearch } = props;
  const { list, olderError } = ledger;
  if (!list) return null;
  if (!list.hasOlder) {
    return isEmpty ? null : <Note ta="center">{t("end")}</Note>;
  }
  const { lookedBackTo } = list;
  return (
    <Stack gap={6} align="center" role="status">
      {olderError && <FailureLine error={olderError} />}
      {lookedBackTo !== undefined ? (
        <Note ta="center">{t("lookedBack", { time: format.dateTime(lookedBackTo) })}</Note>
      ) : (
        isEmpty && <Note ta="center">{t("nothingSoFar")}</Note>
      )}
      <Button variant="default" loading={ledger.isLoadingOlder} onClick={props.onLoad}>
        {t(isEmpty || isSearch || lookedBackTo !== undefined ? "lookFurther" : "loadOlder")}
      </Button>
    </Stack>
  );
}

/** The list is read further down once it reaches this part of the window: below the header, the upper tenth. */
const TOP_OF_WINDOW = "-60px 0px -90% 0px";

/** Inside of the list, above its events. `frame` is the whole list. */
export function NewerEvents(props: { readonly ledger: LedgerView; readonly frame: RefObject<HTMLElement | null> }) {
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
