// What the staff did in a period: how long they were there, in which teams, and how they answered.

import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { COMMAND_KINDS } from "../../../core/history/command-kinds.ts";
import type { StaffResource } from "../../../core/wire/history.ts";
import { type ShownColumn, valueColumn } from "../../parts/table/table-columns.ts";
import { markInvisible } from "../../parts/text/game-text.tsx";
import { Note, Small } from "../../parts/text/plain-text.tsx";
import { useFormat } from "../../state/time/use-format.ts";
import { HistoryTable, makePlayerColumns } from "../history/history-table.tsx";
import { useMedianText, usePresenceText } from "../history/presence-text.tsx";
import { TeamBar, useTeamTimesText } from "../history/team-bar.tsx";

const ROLES = ["Admins", "Mods", "Helpers"] as const;
/** The kinds that a table shows at once; the user can add the others. */
const SHOWN_KINDS: ReadonlySet<string> = new Set(["kick", "ban", "message"]);
/** In rem, by the length of their titles. */
const WIDTHS: Readonly<Record<string, number>> = { kick: 4.5, ban: 4.5, answered: 5.4, commands: 6.2 };
const WIDEST = 6.6;
const SORTING = { column: "seconds", isDescending: true };

export function StaffActivity() {
  const { t } = useTranslation(["history", "staff"]);
  const format = useFormat();
  const writePresence = usePresenceText();
  const writeMedian = useMedianText();
  const writeTeams = useTeamTimesText();
  const columns = useMemo((): readonly ShownColumn<StaffResource>[] => {
    const count = (
      id: "commands" | "answered" | (typeof COMMAND_KINDS)[number],
      value: (row: StaffResource) => number,
      isHiddenAtFirst = false,
    ): ShownColumn<StaffResource> =>
      valueColumn(id, t(`staff.column.${id}`), {
        value,
        show: (n) => (n === 0 ? undefined : <span className="numbers">{format.number(n)}</span>),
        width: `${WIDTHS[id] ?? WIDEST}rem`,
        phone: "tap",
        isNumber: true,
        isHiddenAtFirst,
      });
    const describeRole = (role: string) => {
      const known = ROLES.find((one) => one === role);
      return known ? t(`staff:role.${known}`) : markInvisible(role);
    };
    return [
      ...makePlayerColumns<StaffResource>(t),
      valueColumn("role", t("staff.column.role"), {
        value: ({ role }) => (role === null ? undefined : describeRole(role)),
        show: (text) => <Small>{text}</Small>,
        width: "8rem",
        phone: "line",
      }),
      valueColumn("seconds", t("staff.column.seconds"), {
        value: ({ seconds }) => seconds,
        show: (seconds) => <span className="numbers">{writePresence(seconds)}</span>,
        width: "7.5rem",
        phone: "side",
        isNumber: true,
      }),
      valueColumn("teams", t("staff.column.teams"), {
        value: ({ teams }) => writeTeams(teams),
        show: (text, { teams }) => <TeamBar teams={teams} text={text} />,
        width: "5.4rem",
        phone: "tap",
      }),
      count("commands", ({ commands }) => commands),
      ...COMMAND_KINDS.map((kind) => count(kind, (row) => row.commands_by_kind[kind], !SHOWN_KINDS.has(kind))),
      count("answered", ({ modcalls_answered }) => modcalls_answered),
      valueColumn("median", t("staff.column.median"), {
        value: ({ median_between }) => median_between?.[1],
        show: (_, { median_between }) => writeMedian(median_between),
        width: "7rem",
        phone: "tap",
        isNumber: true,
      }),
    ];
  }, [t, format, writePresence, writeMedian, writeTeams]);
  return (
    <>
      <HistoryTable
        question="staff"
        label={t("staff:activity")}
        columns={columns}
        sorting={SORTING}
        emptyTitle={t("staff.empty")}
      />
      <Note>{t("staff.medianHint")}</Note>
    </>
  );
}
