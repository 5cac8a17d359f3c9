// Shows how long somebody was there, in all and in each team, and between which bounds callers waited.
import { useCallback } from "react";
import { useTranslation } from "react-i18next";
import { TeamName } from "../../parts/team.tsx";
import { useFormat } from "../../state/use-format.ts";
import { describeMedian, splitPresence, type Wait } from "./presence.ts";
import "./texts.ts";

export function usePresenceText(): (seconds: number) => string {
  const { t } = useTranslation("history");
  const format = useFormat();
  return useCallback(
    (seconds) => {
      const parts = splitPresence(seconds);
      if (parts.kind === "hours") return t("presence.hours", { h: format.number(parts.h), m: parts.m });
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
    <span key={team} className="team-time">
      {index > 0 && " "}
      <TeamName team={team} /> <span className="numbers">{write(seconds)}</span>
    </span>
  ));
}

export function sortTeams(teams: Readonly<Record<string, number>>): readonly (readonly [string, number])[] {
  return Object.entries(teams)
    .filter(([, seconds]) => seconds > 0)
    .sort(([, a], [, b]) => b - a);
}
