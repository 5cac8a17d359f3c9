// What became of the commands that were sent from the drawer: handed in, refused, waiting, sent, failed or unknown.
import { Group, Paper, Stack } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { CommandReceipt, CommandResource } from "../../../core/wire/command.ts";
import type { Outcome } from "../../api/request.ts";
import { markInvisible } from "../../parts/text/game-text.tsx";
import { usePacedQuery } from "../../state/server/use-paced-query.ts";
import { endsSession, useCallerSession, useSession } from "../../state/session/session.ts";
import { CommandText, isUnfinished, StatusBadge, StatusDetails } from "../commands/command-status.tsx";
import { PhaseBadge, SubmissionButtons, SubmissionProblem } from "../commands/submission-list.tsx";
import { getSubmissionStore, type Submission } from "../commands/submissions.ts";

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

type RowProps = { readonly command: SentCommand; readonly onRetry: () => void; readonly onDismiss: () => void };

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

function UnacceptedCommand({ command: { submission, text }, onRetry, onDismiss }: RowProps) {
  const { t } = useTranslation("player");
  const dismissLabel = t("sent.dismiss", { command: markInvisible(text) });
  return (
    <>
      <PhaseBadge phase={submission?.phase ?? "sending"} receipt={undefined} />
      {submission && <SubmissionProblem submission={submission} />}
      {submission && (
        <Group gap="xs">
          <SubmissionButtons {...{ submission, dismissLabel, onRetry, onDismiss }} />
        </Group>
      )}
    </>
  );
}

function AcceptedCommand({ receipt }: { readonly receipt: CommandReceipt }) {
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
  return <PhaseBadge phase="accepted" receipt={receipt} />;
}

/** When to ask again; false when nothing more can happen. */
function judgeInterval(outcome: Outcome<CommandResource>): number | false {
  if (!outcome.ok) return AFTER_FAILURE_MS;
  return isUnfinished(outcome.value) ? POLL_MS : false;
}

export type SentCommand = {
  readonly key: string;
  readonly text: string;
  /** Undefined until there is an answer, or the answer is lost. */
  readonly submission: Submission | undefined;
};

export function useSentCommands() {
  const { api } = useCallerSession();
  const { signOut } = useSession();
  const store = getSubmissionStore(api);
  const [sent, setSent] = useState<readonly SentCommand[]>([]);

  async function follow(command: SentCommand, answer: Promise<Submission>): Promise<void> {
    const replace = (submission: Submission | undefined) =>
      setSent((all) => all.map((other) => (other.key === command.key ? { ...command, submission } : other)));
    replace(undefined);
    const submission = await answer;
    replace(submission);
    if (submission.error && endsSession(submission.error)) signOut(submission.error);
  }

  function send(text: string): void {
    const command = { key: crypto.getRandomValues(new Uint32Array(2)).join(), text, submission: undefined };
    setSent((all) => [command, ...all]);
    void follow(command, store.submit(text));
  }
  function retry(command: SentCommand): void {
    if (command.submission) void follow(command, store.retry(command.submission));
  }
  /** The console forgets it too. */
  function dismiss(command: SentCommand): void {
    if (command.submission) store.remove(command.submission);
    setSent((all) => all.filter(({ key }) => key !== command.key));
  }
  return { sent, send, retry, dismiss };
}
