// The commands of this server, newest first, each with its status and a button to cancel it or to use it again.
import { Button, Group, Paper, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { ERRORS } from "../../../core/errors.ts";
import type { CommandResource } from "../../../core/wire/command.ts";
import type { ApiError } from "../../api/request.ts";
import { markInvisible } from "../../parts/game-text.tsx";
import { EmptyState } from "../../parts/states.tsx";
import { useCallerSession } from "../../state/session.ts";
import { isUnfinished, StatusBadge, StatusDetails } from "../command-status.tsx";
import { CommandText } from "./command-text.tsx";
import { SenderText } from "./sender-text.tsx";

export function CommandList(props: {
  readonly commands: readonly CommandResource[];
  /** Whether nothing is shown above the list, so that an empty list needs a notice. */
  readonly isAlone: boolean;
  readonly onReuse: (line: string) => void;
  readonly onChanged: () => void;
}) {
  const { t } = useTranslation("commands");
  const { commands } = props;
  if (commands.length === 0) {
    return props.isAlone ? <EmptyState title={t("empty")}>{t("emptyText")}</EmptyState> : null;
  }
  return (
    <>
      <Stack gap="xs" component="ul" className="plain-list" aria-label={t("list")}>
        {commands.map((command) => (
          <CommandRow
            key={command.command_id}
            command={command}
            onReuse={() => props.onReuse(command.command)}
            onChanged={props.onChanged}
          />
        ))}
      </Stack>
      {!commands.some(isUnfinished) && (
        <Text size="sm" c="dimmed">
          {t("idle")}
        </Text>
      )}
    </>
  );
}

function CommandRow(props: {
  readonly command: CommandResource;
  readonly onReuse: () => void;
  readonly onChanged: () => void;
}) {
  const { t } = useTranslation("commands");
  const { api } = useCallerSession();
  const { command } = props;
  const [isCancelling, setCancelling] = useState(false);
  const [error, setError] = useState<ApiError>();

  async function cancel() {
    setCancelling(true);
    const outcome = await api.cancelCommand(command.command_id);
    setCancelling(false);
    setError(outcome.ok ? undefined : outcome.error);
    props.onChanged();
  }

  return (
    <Paper component="li" withBorder p="sm" data-status={command.status}>
      <Group justify="space-between" align="flex-start" gap="xs">
        <Stack gap={4} flex="1 1 16rem" miw={0}>
          <CommandText text={command.command} />
          <Text size="sm" c="dimmed">
            <SenderText command={command} />
          </Text>
          <StatusDetails command={command} />
          {error && (
            <Text size="sm" c="red" role="alert">
              {error.status === ERRORS.conflict.status
                ? t("tooLate")
                : t("refusal.other", { message: error.message, code: error.code })}
            </Text>
          )}
        </Stack>
        <Group gap="xs">
          <StatusBadge command={command} />
          {command.status === "queued" ? (
            <Button
              size="xs"
              variant="light"
              color="red"
              loading={isCancelling}
              onClick={() => void cancel()}
              aria-label={t("cancelName", { command: markInvisible(command.command) })}
            >
              {t("cancel")}
            </Button>
          ) : (
            command.status !== "sending" && (
              <Button
                size="xs"
                variant="subtle"
                onClick={props.onReuse}
                aria-label={t("againName", { command: markInvisible(command.command) })}
              >
                {t("again")}
              </Button>
            )
          )}
        </Group>
      </Group>
    </Paper>
  );
}
