// The commands that this tab has sent and that the command list does not show yet: sending, lost, refused or accepted.
import { Badge, Button, Group, Paper, Stack, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { ERRORS } from "../../../core/errors.ts";
import type { ApiError } from "../../api/request.ts";
import { markInvisible } from "../../parts/text/game-text.tsx";
import { useFormat, useSecond } from "../../state/time/use-format.ts";
import { CommandText } from "./command-status.tsx";
import type { Submission } from "./submissions.ts";

export function SubmissionList(props: {
  readonly submissions: readonly Submission[];
  readonly onRetry: (submission: Submission) => void;
  readonly onDismiss: (submission: Submission) => void;
  readonly onReuse: (submission: Submission) => void;
}) {
  const { t } = useTranslation("commands");
  const { submissions } = props;
  if (submissions.length === 0) return null;
  return (
    <Stack gap="xs" component="ul" className="plain-list" aria-label={t("handedIn")}>
      {submissions.map((submission) => (
        <SubmissionRow
          key={submission.idempotencyKey}
          submission={submission}
          onRetry={() => props.onRetry(submission)}
          onDismiss={() => props.onDismiss(submission)}
          onReuse={() => props.onReuse(submission)}
        />
      ))}
    </Stack>
  );
}

function SubmissionRow(props: {
  readonly submission: Submission;
  readonly onRetry: () => void;
  readonly onDismiss: () => void;
  readonly onReuse: () => void;
}) {
  const { t } = useTranslation("commands");
  const { submission } = props;
  const { phase, text } = submission;
  const hasProblem = phase === "lost" || phase === "refused";
  return (
    <Paper component="li" withBorder p="sm" data-phase={phase} className={hasProblem ? "has-problem" : undefined}>
      <Group justify="space-between" align="flex-start" gap="xs">
        <Stack gap={4} flex="1 1 16rem" miw={0} role={hasProblem ? "alert" : undefined}>
          <CommandText text={text} />
          <SubmissionProblem submission={submission} />
        </Stack>
        <Group gap="xs">
          <PhaseBadge {...submission} />
          <SubmissionButtons {...props} dismissLabel={t("dismissName", { command: markInvisible(text) })} />
        </Group>
      </Group>
    </Paper>
  );
}

/** How far a command has come until the list of commands shows it. */
export function PhaseBadge({ phase, receipt }: Pick<Submission, "phase" | "receipt">) {
  const { t } = useTranslation("commands");
  const colour = phase === "refused" ? "red" : phase === "lost" ? "orange" : "blue";
  return (
    <Badge color={colour} variant="light" tt="none" size="lg">
      {t(`phase.${phase}`)}
      {receipt && `, ${t("position", { count: receipt.position })}`}
    </Badge>
  );
}

/** Why a command was not accepted; nothing when it may still be. */
export function SubmissionProblem({ submission: { phase, error } }: { readonly submission: Submission }) {
  const { t } = useTranslation("commands");
  const refusal = useRefusalText(error);
  if (phase !== "lost" && phase !== "refused") return null;
  return (
    <Text size="sm" className="untrusted">
      {phase === "lost" ? t("lost") : refusal}
    </Text>
  );
}

/** What the user can do about a command that was not accepted. */
export function SubmissionButtons(props: {
  readonly submission: Submission;
  readonly dismissLabel: string;
  readonly onRetry: () => void;
  readonly onDismiss: () => void;
  /** Puts the command into the line again. */
  readonly onReuse?: () => void;
}) {
  const { t } = useTranslation("commands");
  const format = useFormat();
  const now = useSecond();
  const { phase, text, error, retryAt } = props.submission;
  const waitMs = Math.max(0, (retryAt ?? 0) - now);
  const mayRetry = phase === "lost" || isTemporary(error);
  if (phase !== "lost" && phase !== "refused") return null;
  return (
    <>
      {mayRetry && (
        <Button size="xs" variant="light" onClick={props.onRetry} disabled={waitMs > 0} className="numbers">
          {waitMs > 0 ? t("retryIn", { age: format.duration(waitMs) }) : t("retry")}
        </Button>
      )}
      {!mayRetry && props.onReuse && (
        <Button
          size="xs"
          variant="light"
          onClick={props.onReuse}
          aria-label={t("againName", { command: markInvisible(text) })}
        >
          {t("again")}
        </Button>
      )}
      <Button size="xs" variant="subtle" onClick={props.onDismiss} aria-label={props.dismissLabel}>
        {t("dismiss")}
      </Button>
    </>
  );
}

const EXPLAINED_CODES = [
  ERRORS.missingCommand.code,
  ERRORS.forbidden.code,
  ERRORS.versionForbidden.code,
  ERRORS.queueFull.code,
  ERRORS.rateLimited.code,
  ERRORS.spamBlocked.code,
  ERRORS.invalidRequest.code,
  ERRORS.idempotencyMismatch.code,
  ERRORS.unavailable.code,
] as const;

export function useRefusalText(error: ApiError | undefined): string {
  const { t } = useTranslation("commands");
  if (!error) return "";
  const { code, message, details } = error;
  const known = EXPLAINED_CODES.find((other) => other === code);
  if (known === undefined) return t("refusal.other", { message, code });
  const reason = Object.values(details ?? {}).join("; ") || message;
  return `${t(`refusal.${known}`, { reason })} (${code})`;
}

/** Whether Gatehouse may accept the same command later. */
export function isTemporary(error: ApiError | undefined): boolean {
  const code = error?.code;
  return (
    code === ERRORS.queueFull.code ||
    code === ERRORS.rateLimited.code ||
    code === ERRORS.spamBlocked.code ||
    code === ERRORS.unavailable.code
  );
}
