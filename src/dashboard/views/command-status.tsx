// Shows the status of a command: a badge, and a sentence that explains it.
import { Badge, Group, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { CommandStatus } from "../../core/command.ts";
import type { CommandResource } from "../../core/wire/command.ts";
import { isGameMessage, useCodeMeaning } from "../parts/game-error-text.ts";
import { NamedSentence } from "../parts/name-text.tsx";
import { useFormat } from "../state/use-format.ts";

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
  return (
    <Group gap={6} wrap="nowrap">
      <Badge color={COLOURS[status]} variant="light" tt="none" size="md">
        {t(`status.${status}`)}
        {position !== null && `, ${t("position", { count: position })}`}
      </Badge>
      {confirmedAt !== null && (
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
      <Text size="sm" c="dimmed" className="numbers">
        {times.join(" · ")}
      </Text>
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
              write={(place) => (isGameMessage(message) ? t("gameSays", { message: place }) : place)}
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
