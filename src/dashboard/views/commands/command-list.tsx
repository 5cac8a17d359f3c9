// The commands of this server, newest first, each with its status and a button to cancel it or to use it again.
import { Alert, Button } from "@mantine/core";
import { useCallback, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { ERRORS } from "../../../core/errors.ts";
import type { CommandResource } from "../../../core/wire/command.ts";
import type { PageOf } from "../../../core/wire/page.ts";
import type { ApiError, Outcome } from "../../api/request.ts";
import { Icon } from "../../parts/icon.tsx";
import { EmptyState } from "../../parts/states.tsx";
import { SortedTable } from "../../parts/table/sorted-table.tsx";
import type { ShownColumn } from "../../parts/table/table-columns.ts";
import { markInvisible, NamedSentence } from "../../parts/text/game-text.tsx";
import { Note } from "../../parts/text/plain-text.tsx";
import { NowProvider } from "../../parts/text/time.tsx";
import { usePacedQuery } from "../../state/server/use-paced-query.ts";
import { useCallerSession } from "../../state/session/session.ts";
import {
  attributesOfCommand,
  CommandText,
  isUnfinished,
  keyOfCommand,
  makeCommandColumn,
  makeStatusColumns,
} from "./command-status.tsx";

/** A command that could not be cancelled, and why. */
type Refusal = { readonly command: CommandResource; readonly error: ApiError };

export function CommandList(props: {
  readonly commands: readonly CommandResource[];
  /** Whether nothing is shown above the list, so that an empty list needs a notice. */
  readonly isAlone: boolean;
  readonly onReuse: (line: string) => void;
  readonly onChanged: () => void;
}) {
  const { t } = useTranslation(["commands", "table"]);
  const { commands, onReuse, onChanged } = props;
  const [refusal, setRefusal] = useState<Refusal>();
  const handleCancelled = useCallback(
    (command: CommandResource, error: ApiError | undefined) => {
      setRefusal(error && { command, error });
      onChanged();
    },
    [onChanged],
  );
  const columns = useMemo(
    (): readonly ShownColumn<CommandResource>[] => [
      makeCommandColumn(t),
      ...makeStatusColumns(t).slice(0, 1),
      {
        id: "sender",
        title: t("column.sender"),
        readValue: ({ key_label: label }) => label ?? undefined,
        cell: (command) => (
          <span className="cut-text">
            <SenderText command={command} />
          </span>
        ),
        width: "12rem",
        phone: "line",
      },
      ...makeStatusColumns(t).slice(1),
      {
        id: "buttons",
        title: t("table:buttons"),
        readValue: () => undefined,
        cell: (command) =>
          command.status === "sending" ? undefined : (
            <CommandButtons command={command} onReuse={onReuse} onCancelled={handleCancelled} />
          ),
        width: "8rem",
        isButtons: true,
      },
    ],
    [t, onReuse, handleCancelled],
  );
  if (commands.length === 0) {
    return props.isAlone ? <EmptyState title={t("empty")}>{t("emptyText")}</EmptyState> : null;
  }
  return (
    <NowProvider>
      {refusal && <RefusalAlert refusal={refusal} onClose={() => setRefusal(undefined)} />}
      <SortedTable
        label={t("list")}
        name="commands"
        rows={commands}
        columns={columns}
        keyOf={keyOfCommand}
        attributesOf={attributesOfCommand}
      />
      {!commands.some(isUnfinished) && <Note>{t("idle")}</Note>}
    </NowProvider>
  );
}

function CommandButtons(props: {
  readonly command: CommandResource;
  readonly onReuse: (line: string) => void;
  readonly onCancelled: (command: CommandResource, error: ApiError | undefined) => void;
}) {
  const { t } = useTranslation("commands");
  const { api } = useCallerSession();
  const { command } = props;
  const [isCancelling, setCancelling] = useState(false);

  async function cancel() {
    setCancelling(true);
    const outcome = await api.cancelCommand(command.command_id);
    setCancelling(false);
    props.onCancelled(command, outcome.ok ? undefined : outcome.error);
  }

  return command.status === "queued" ? (
    <Button
      size="compact-sm"
      variant="outline"
      color="red"
      loading={isCancelling}
      onClick={() => void cancel()}
      aria-label={t("cancelName", { command: markInvisible(command.command) })}
    >
      {t("cancel")}
    </Button>
  ) : (
    <Button
      size="compact-sm"
      variant="subtle"
      onClick={() => props.onReuse(command.command)}
      aria-label={t("againName", { command: markInvisible(command.command) })}
    >
      {t("again")}
    </Button>
  );
}

function RefusalAlert(props: { readonly refusal: Refusal; readonly onClose: () => void }) {
  const { t } = useTranslation(["commands", "shell"]);
  const { command, error } = props.refusal;
  return (
    <Alert
      role="alert"
      color="red"
      icon={<Icon name="warning" />}
      withCloseButton
      closeButtonLabel={t("shell:close")}
      onClose={props.onClose}
    >
      <CommandText text={command.command} />{" "}
      {error.status === ERRORS.conflict.status
        ? t("tooLate")
        : t("refusal.other", { message: error.message, code: error.code })}
    </Alert>
  );
}

export function SenderText({ command }: { readonly command: CommandResource }) {
  const { t } = useTranslation("commands");
  const { ownKey } = useCallerSession();
  const { key_id: keyId, key_label: label } = command;
  const isOwn = keyId === ownKey.key_id;
  if (label === null) return t(isOwn ? "sender.ownUnnamed" : "sender.unknown");
  return (
    <NamedSentence
      names={[label]}
      write={(placeholder) => t(isOwn ? "sender.own" : "sender.other", { label: placeholder })}
    />
  );
}

/** While a command is being sent or is next in line, something changes every few seconds. */
const SENDING_MS = 2_500;
const WAITING_MS = 5_000;
/** No command waits, but the game's log may still confirm one that was sent. */
const CONFIRMING_MS = 8_000;
const CONFIRMING_FOR_MS = 60_000;
const AFTER_FAILURE_MS = 10_000;
/** The maximum of one page: a full queue, and as many finished commands. */
const PAGE_SIZE = 200;

export type CommandListing = {
  /** The last list that could be read; undefined before the first. */
  readonly commands: readonly CommandResource[] | undefined;
  /** Why the last poll failed. */
  readonly error: ApiError | undefined;
  readonly isFetching: boolean;
  readonly refresh: () => void;
};

export function useCommandList(): CommandListing {
  const { api } = useCallerSession();
  const { outcome, refresh, isFetching } = usePacedQuery(
    ["commands"],
    (signal) => api.listCommands({ limit: PAGE_SIZE }, signal),
    judgeInterval,
  );
  const commands = useLastGood(outcome)?.items;
  return { commands, error: outcome?.ok === false ? outcome.error : undefined, isFetching, refresh };
}

/** Keeps the last good page through failures. */
function useLastGood(outcome: Outcome<PageOf<CommandResource>> | undefined): PageOf<CommandResource> | undefined {
  const last = useRef<PageOf<CommandResource>>(undefined);
  if (outcome?.ok) last.current = outcome.value;
  return last.current;
}

/** When to poll again; false while nothing in the list can change. */
function judgeInterval(outcome: Outcome<PageOf<CommandResource>>): number | false {
  if (!outcome.ok) return AFTER_FAILURE_MS;
  const { items } = outcome.value;
  const now = outcome.receivedAt;
  if (items.some(({ status, position }) => status === "sending" || position === 1)) return SENDING_MS;
  if (items.some(isUnfinished)) return WAITING_MS;
  const isConfirming = items.some(({ status, confirmed_at: confirmedAt, finished_at: finishedAt }) => {
    const isOpen = (status === "sent" || status === "unknown") && confirmedAt === null;
    return isOpen && finishedAt !== null && now - finishedAt < CONFIRMING_FOR_MS;
  });
  return isConfirming ? CONFIRMING_MS : false;
}
