// Shows how long somebody was there, in all and in each team, and between which bounds callers waited.
import { Fragment, useCallback } from "react";
import { useTranslation } from "react-i18next";
import { TeamName } from "../../parts/text/team.tsx";
import { useFormat } from "../../state/time/use-format.ts";

export function usePresenceText(): (seconds: number) => string {
  const { t } = useTranslation("history");
  const format = useFormat();
  return useCallback(
    (seconds) => {
      const parts = splitPresence(seconds);
      if (parts.kind === "hours") {
        const hours = t("presence.hours", { h: format.number(parts.h) });
        return parts.m === 0 ? hours : `${hours} ${t("presence.minutes", { m: parts.m })}`;
      }
      return parts.kind === "minutes" ? t("presence.minutes", { m: parts.m }) : t(`presence.${parts.kind}`);
    },
    [t, format],
  );
}

/** Undefined without answers. */
export function useMedianText(): (bounds: readonly number[] | null) => string | undefined {
  const { t } = useTranslation(["history", "status"]);
  return useCallback(
    (bounds) => {
      const median = describeMedian(bounds);
      if (!median) return undefined;
      const write = ({ unit, n }: Wait) => t(`status:${unit}`, { n });
      if (median.kind === "exactly") return write(median.low);
      if (median.kind === "atMost") return t("history:staff.atMost", { high: write(median.high) });
      return t("history:staff.between", { low: write(median.low), high: write(median.high) });
    },
    [t],
  );
}

/** The teams somebody was in, the longest time first. Nothing without any. */
export function TeamTimes({ teams }: { readonly teams: Readonly<Record<string, number>> }) {
  const write = usePresenceText();
  return sortTeams(teams).map(([team, seconds], index) => (
    <Fragment key={team}>
      {/* Lines break here only. */}
      {index > 0 && " "}
      <span className="team-time">
        <TeamName team={team} /> <span className="numbers">{write(seconds)}</span>
      </span>
    </Fragment>
  ));
}

export function sortTeams(teams: Readonly<Record<string, number>>): readonly (readonly [string, number])[] {
  return Object.entries(teams)
    .filter(([, seconds]) => seconds > 0)
    .sort(([, a], [, b]) => b - a);
}

export type PresenceParts =
  | { readonly kind: "none" | "underMinute" }
  | { readonly kind: "minutes"; readonly m: number }
  | { readonly kind: "hours"; readonly h: number; readonly m: number };

/** In hours, also when they are more than a day: that is how moderators count them. */
export function splitPresence(seconds: number): PresenceParts {
  if (seconds <= 0) return { kind: "none" };
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) return { kind: "underMinute" };
  if (minutes < 60) return { kind: "minutes", m: minutes };
  return { kind: "hours", h: Math.floor(minutes / 60), m: minutes % 60 };
}

export type Wait = { readonly unit: "seconds" | "minutes" | "hours"; readonly n: number };

/** Rounded so that it stays a bound: the lower one down, the upper one up. */
export function roundWait(seconds: number, round: "down" | "up"): Wait {
  const whole = round === "down" ? Math.floor : Math.ceil;
  const exact = whole(seconds);
  if (exact < 120 && exact % 60 !== 0) return { unit: "seconds", n: exact };
  if (exact === 0) return { unit: "seconds", n: 0 };
  const minutes = whole(seconds / 60);
  return minutes < 120 ? { unit: "minutes", n: minutes } : { unit: "hours", n: whole(seconds / 3_600) };
}

export type Median =
  | { readonly kind: "between"; readonly low: Wait; readonly high: Wait }
  | { readonly kind: "atMost"; readonly high: Wait }
  | { readonly kind: "exactly"; readonly low: Wait };

/** Undefined without answers. */
export function describeMedian(bounds: readonly number[] | null): Median | undefined {
  const [lowest, highest] = bounds ?? [];
  if (lowest === undefined || highest === undefined) return undefined;
  const low = roundWait(lowest, "down");
  const high = roundWait(highest, "up");
  if (low.n === high.n && low.unit === high.unit) return { kind: "exactly", low };
  return low.n === 0 ? { kind: "atMost", high } : { kind: "between", low, high };
}
