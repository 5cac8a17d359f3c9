// The commands of this server, newest first, each with its status and a button to cancel it or to use it again.
import { Alert, Button, Text } from "@mantine/core";
import { useCallback, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { ERRORS } from "../../../core/errors.ts";
import type { CommandResource } from "../../../core/wire/command.ts";
import type { ApiError } from "../../api/request.ts";
import { markInvisible } from "../../parts/game-text.tsx";
import { Icon } from "../../parts/icon.tsx";
import { NowProvider } from "../../parts/moment.tsx";
import { SortedTable } from "../../parts/sorted-table.tsx";
import { EmptyState } from "../../parts/states.tsx";
import type { ShownColumn } from "../../parts/table-columns.ts";
import { useCallerSession } from "../../state/session.ts";
import {
  attributesOfCommand,
  keyOfCommand,
  makeCommandColumn,
  makeStatusColumns,
} from "../command-columns.tsx";
import { isUnfinished } from "../command-status.tsx";
import { CommandText } from "./command-text.tsx";
import { SenderText } from "./sender-text.tsx";

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
      {!commands.some(isUnfinished) && (
        <Text size="sm" c="dimmed">
          {t("idle")}
        </Text>
      )}
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
      variant="light"
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
