// The columns that the list of commands has for callers and for operators.
import type { TFunction } from "i18next";
import type { CommandResource } from "../../core/wire/command.ts";
import { Ago } from "../parts/ago.tsx";
import { Moment } from "../parts/moment.tsx";
import type { ShownColumn } from "../parts/table-columns.ts";
import { StatusBadge, StatusMeaning } from "./command-status.tsx";
import { CommandText } from "./commands/command-text.tsx";

type Texts = TFunction<"commands">;
type CommandColumn = ShownColumn<CommandResource>;

export function makeCommandColumn(t: Texts): CommandColumn {
  return {
    id: "command",
    title: t("column.command"),
    readValue: ({ command }) => command,
    cell: ({ command }) => <CommandText text={command} />,
    width: "28%",
    phone: "main",
  };
}

/** The status comes first, because it is what the sender waits for. */
export function makeStatusColumns(t: Texts): readonly CommandColumn[] {
  return [
    {
      id: "status",
      title: t("column.status"),
      readValue: ({ status }) => t(`status.${status}`),
      cell: (command) => <StatusBadge command={command} />,
      width: "14rem",
      phone: "side",
    },
    {
      id: "accepted",
      title: t("column.accepted"),
      readValue: ({ queued_at: at }) => at,
      cell: ({ queued_at: at }) => <Ago at={at} />,
      width: "8rem",
      phone: "tap",
    },
    {
      id: "finished",
      title: t("column.finished"),
      readValue: ({ finished_at: at }) => at ?? undefined,
      cell: ({ finished_at: at }) => (at === null ? undefined : <Moment seconds={at / 1000} />),
      width: "13rem",
      phone: "tap",
      isHiddenAtFirst: true,
    },
    {
      id: "meaning",
      title: t("column.meaning"),
      readValue: ({ upstream_message: message }) => message ?? undefined,
      cell: (command) => <StatusMeaning command={command} />,
      phone: "line",
    },
  ];
}

export function keyOfCommand({ command_id: id }: CommandResource): string {
  return id;
}

export function attributesOfCommand({ status }: CommandResource) {
  return { "data-status": status };
}
