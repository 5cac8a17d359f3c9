// Shows a command: its text, its status as a badge and as a sentence, and the columns that every list of commands has.

import { Badge, Code, Group, Text } from "@mantine/core";
import type { TFunction } from "i18next";
import { useTranslation } from "react-i18next";
import { COMMAND_CHARACTERS_MAX, type CommandStatus } from "../../../core/commands/command.ts";
import type { CommandResource } from "../../../core/wire/command.ts";
import { type ShownColumn, valueColumn } from "../../parts/table/table-columns.ts";
import { isGameMessage, useCodeMeaning } from "../../parts/text/game-error-text.ts";
import { GameText, NamedSentence } from "../../parts/text/game-text.tsx";
import { Note } from "../../parts/text/plain-text.tsx";
import { Ago, Moment } from "../../parts/text/time.tsx";
import { useFormat } from "../../state/time/use-format.ts";

const COLOURS: Readonly<Record<CommandStatus, string>> = {
  queued: "blue",
  sending: "indigo",
  sent: "teal",
  failed: "red",
  unknown: "orange",
  expired: "gray",
  cancelled: "gray",
};

/** The characters of the game's message that are shown at once; a button shows the rest. */
const MESSAGE_MAX = 500;

export function isUnfinished({ status }: Pick<CommandResource, "status">): boolean {
  return status === "queued" || status === "sending";
}

export function StatusBadge({ command }: { readonly command: CommandResource }) {
  const { t } = useTranslation("commands");
  const { status, position, confirmed_at: confirmedAt } = command;
  const isSeen = confirmedAt !== null;
  return (
    <Group gap={6} wrap="nowrap">
      {/* What the game has shown was sent. */}
      {!(isSeen && status === "sent") && (
        <Badge color={COLOURS[status]} variant="light" tt="none" size="md">
          {t(`status.${status}`)}
          {position !== null && `, ${t("position", { count: position })}`}
        </Badge>
      )}
      {isSeen && (
        <Badge color="teal" variant="outline" tt="none" size="md">
          {t("confirmed")}
        </Badge>
      )}
    </Group>
  );
}

/** The times of a command, and what its status means. */
export function StatusDetails({ command }: { readonly command: CommandResource }) {
  const { t } = useTranslation("commands");
  const format = useFormat();
  const times = [
    t("queuedAt", { time: format.dateTime(command.queued_at) }),
    ...(command.finished_at === null ? [] : [t("finishedAt", { time: format.time(command.finished_at) })]),
  ];
  return (
    <>
      <Note className="numbers">{times.join(" · ")}</Note>
      <Text size="sm" component="div">
        <StatusMeaning command={command} />
      </Text>
    </>
  );
}

/** What the status of a command means, and what the game API said about it. */
export function StatusMeaning({ command }: { readonly command: CommandResource }) {
  const { t } = useTranslation("commands");
  const format = useFormat();
  const reason = useFailureReason(command);
  const { status, confirmed_at: confirmedAt, upstream_message: message } = command;
  const isConfirmedUnknown = status === "unknown" && confirmedAt !== null;
  return (
    <span className="untrusted cut-text">
      <span>
        {t(isConfirmedUnknown ? "meaning.unknownButSeen" : `meaning.${status}`)}
        {reason !== undefined && ` (${reason})`}
        {confirmedAt !== null && ` ${t("confirmedAt", { time: format.time(confirmedAt) })}`}
      </span>
      {message !== null && message !== "" && status !== "sent" && (
        <>
          {" "}
          <span>
            <NamedSentence
              names={[message]}
              max={MESSAGE_MAX}
              write={(placeholder) => (isGameMessage(message) ? t("gameSays", { message: placeholder }) : placeholder)}
            />
          </span>
        </>
      )}
    </span>
  );
}

function useFailureReason({ status, upstream_code: code }: CommandResource): string | undefined {
  const { t } = useTranslation("commands");
  const meaningOf = useCodeMeaning();
  if (status !== "failed" && (status !== "unknown" || code === null)) return undefined;
  if (code === null) return t("code.none");
  const meaning = meaningOf(code);
  if (meaning === undefined) return t("code.other", { code });
  return code === 0 ? meaning : `${meaning}, ${code}`;
}

export function CommandText(props: { readonly text: string; readonly isBlock?: boolean }) {
  const { text, isBlock = false } = props;
  return (
    <Code block={isBlock} className="untrusted command-text">
      {/* Never cut, because the user must see everything that is sent or used again. */}
      <GameText text={text} max={COMMAND_CHARACTERS_MAX} />
    </Code>
  );
}

type Texts = TFunction<"commands">;
type CommandColumn = ShownColumn<CommandResource>;

export function makeCommandColumn(t: Texts): CommandColumn {
  return valueColumn("command", t("column.command"), {
    value: ({ command }) => command,
    show: (command) => <CommandText text={command} />,
    width: "28%",
    phone: "main",
  });
}

/** The status comes first, because it is what the sender waits for. */
export function makeStatusColumns(t: Texts): readonly CommandColumn[] {
  return [
    valueColumn("status", t("column.status"), {
      value: ({ status }) => t(`status.${status}`),
      show: (_, command) => <StatusBadge command={command} />,
      width: "14rem",
      phone: "side",
    }),
    valueColumn("accepted", t("column.accepted"), {
      value: ({ queued_at: at }) => at,
      show: (at) => <Ago at={at} />,
      width: "8rem",
      phone: "tap",
    }),
    valueColumn("finished", t("column.finished"), {
      value: ({ finished_at: at }) => at,
      show: (at) => <Moment seconds={at / 1000} />,
      width: "13rem",
      phone: "tap",
      isHiddenAtFirst: true,
    }),
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
