// What became of the commands that were sent from the drawer: handed in, refused, waiting, sent, failed or unknown.
import { Badge, Button, Group, Paper, Stack, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { CommandReceipt, CommandResource } from "../../../core/wire/command.ts";
import type { Outcome } from "../../api/request.ts";
import { markInvisible } from "../../parts/game-text.tsx";
import { useCallerSession } from "../../state/session.ts";
import { useFormat } from "../../state/use-format.ts";
import { useNow } from "../../state/use-now.ts";
import { usePacedQuery } from "../../state/use-paced-query.ts";
import { isUnfinished, StatusBadge, StatusDetails } from "../command-status.tsx";
import { CommandText } from "../commands/command-text.tsx";
import { isTemporary, useRefusalText } from "../commands/refusal-text.ts";
import type { SentCommand } from "./use-sent-commands.ts";

const POLL_MS = 2_500;
const AFTER_FAILURE_MS = 10_000;

export function SentCommands(props: {
  readonly sent: readonly SentCommand[];
  readonly onRetry: (command: SentCommand) => void;
  readonly onDismiss: (command: SentCommand) => void;
}) {
  const { t } = useTranslation("player");
  return (
    // Screen readers announce what is added to a live region that is already there.
    <div role="status">
      {props.sent.length > 0 && (
        <Stack gap="xs" component="ul" className="plain-list" aria-label={t("sent.title")}>
          {props.sent.map((command) => (
            <Paper
              key={command.key}
              component="li"
              withBorder
              p="sm"
              data-phase={command.submission?.phase ?? "sending"}
            >
              <SentRow
                command={command}
                onRetry={() => props.onRetry(command)}
                onDismiss={() => props.onDismiss(command)}
              />
            </Paper>
          ))}
        </Stack>
      )}
    </div>
  );
}

type RowProps = {
  readonly command: SentCommand;
  readonly onRetry: () => void;
  readonly onDismiss: () => void;
};

function SentRow({ command, onRetry, onDismiss }: RowProps) {
  const { submission } = command;
  return (
    <Stack gap={6} align="flex-start">
      <CommandText text={command.text} />
      {submission?.receipt ? (
        <AcceptedCommand receipt={submission.receipt} />
      ) : (
        <UnacceptedCommand command={command} onRetry={onRetry} onDismiss={onDismiss} />
      )}
    </Stack>
  );
}

function UnacceptedCommand({ command, onRetry, onDismiss }: RowProps) {
  const { t } = useTranslation(["commands", "player"]);
  const format = useFormat();
  const now = useNow();
  const { phase = "sending", error, retryAt } = command.submission ?? {};
  const refusal = useRefusalText(error);
  const waitMs = Math.max(0, (retryAt ?? 0) - now);
  const hasProblem = phase === "lost" || phase === "refused";
  const mayRetry = phase === "lost" || (phase === "refused" && isTemporary(error));
  return (
    <>
      <Badge
        color={phase === "refused" ? "red" : phase === "lost" ? "orange" : "blue"}
        variant="light"
        tt="none"
        size="lg"
      >
        {t(`commands:phase.${phase}`)}
      </Badge>
      {hasProblem && (
        <Text size="sm" className="untrusted">
          {phase === "lost" ? t("commands:lost") : refusal}
        </Text>
      )}
      {hasProblem && (
        <Group gap="xs">
          {mayRetry && (
            <Button size="xs" variant="light" onClick={onRetry} disabled={waitMs > 0} className="numbers">
              {waitMs > 0 ? t("commands:retryIn", { age: format.duration(waitMs) }) : t("commands:retry")}
            </Button>
          )}
          <Button
            size="xs"
            variant="subtle"
            onClick={onDismiss}
            aria-label={t("player:sent.dismiss", { command: markInvisible(command.text) })}
          >
            {t("commands:dismiss")}
          </Button>
        </Group>
      )}
    </>
  );
}

function AcceptedCommand({ receipt }: { readonly receipt: CommandReceipt }) {
  const { t } = useTranslation("commands");
  const { api } = useCallerSession();
  const { outcome } = usePacedQuery(
    ["command", receipt.command_id],
    (signal) => api.showCommand(receipt.command_id, signal),
    judgeInterval,
  );
  if (outcome?.ok) {
    return (
      <div data-status={outcome.value.status}>
        <StatusBadge command={outcome.value} />
        <StatusDetails command={outcome.value} />
      </div>
    );
  }
  return (
    <Badge color="blue" variant="light" tt="none" size="lg">
      {`${t("phase.accepted")}, ${t("position", { count: receipt.position })}`}
    </Badge>
  );
}

/** When to ask again; false when nothing more can happen. */
function judgeInterval(outcome: Outcome<CommandResource>): number | false {
  if (!outcome.ok) return AFTER_FAILURE_MS;
  return isUnfinished(outcome.value) ? POLL_MS : false;
}
