// Shows how long somebody has waited, to the second. Only this text is rendered again every second.
import { useCallback, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { splitDuration } from "../state/exact-duration.ts";
import { SecondTicker } from "../state/second-ticker.ts";
import { setPageTimer } from "../state/throttle.ts";
import { useFormat } from "../state/use-format.ts";
import { useLiveStream } from "../state/use-live-stream.tsx";

const ticker = new SecondTicker({
  setTimer: setPageTimer,
  isHidden: () => document.hidden,
  onVisibility(run) {
    document.addEventListener("visibilitychange", run);
    return () => document.removeEventListener("visibilitychange", run);
  },
});

/** Writes a duration: "12 s", "4 min 05 s", "1 h 30 min". */
export function useExactDuration(): (ms: number, round?: "down" | "up") => string {
  const { t } = useTranslation("calls");
  return useCallback(
    (ms, round) => {
      const { unit, ...parts } = splitDuration(ms, round);
      return t(`duration.${unit}`, parts);
    },
    [t],
  );
}

/** `since` is in epoch milliseconds; undefined when the game does not say it. */
export function WaitingTime({ since }: { readonly since: number | undefined }) {
  const { t } = useTranslation("calls");
  const format = useFormat();
  const write = useExactDuration();
  const stream = useLiveStream();
  useSyncExternalStore(ticker.subscribe, () => ticker.ticks);
  if (since === undefined) return t("moderator.waitsUnknown");
  // The clock of this machine may be wrong; the stream knows the clock of Gatehouse.
  const now = stream?.serverNow ?? Date.now();
  return (
    <time
      dateTime={new Date(since).toISOString()}
      title={t("moderator.since", { time: format.dateTime(since) })}
      className="numbers"
    >
      {t("moderator.waits", { duration: write(now - since) })}
    </time>
  );
}
