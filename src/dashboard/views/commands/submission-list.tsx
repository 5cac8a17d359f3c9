// The commands that this tab has sent and that the command list does not show yet: sending, lost, refused or accepted.
import { Badge, Button, Group, Paper, Stack, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { markInvisible } from "../../parts/game-text.tsx";
import { useFormat } from "../../state/use-format.ts";
import { useNow } from "../../state/use-now.ts";
import { CommandText } from "./command-text.tsx";
import { isTemporary, useRefusalText } from "./refusal-text.ts";
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
  const format = useFormat();
  const now = useNow();
  const { submission } = props;
  const { phase, text, error, retryAt, receipt } = submission;
  const waitMs = Math.max(0, (retryAt ?? 0) - now);
  const refusalText = useRefusalText(error);
  const hasProblem = phase === "lost" || phase === "refused";
  const mayRetry = phase === "lost" || (phase === "refused" && isTemporary(error));
  return (
    <Paper
      component="li"
      withBorder
      p="sm"
      data-phase={phase}
      className={hasProblem ? "has-problem" : undefined}
    >
      <Group justify="space-between" align="flex-start" gap="xs">
        <Stack gap={4} flex="1 1 16rem" miw={0} role={hasProblem ? "alert" : undefined}>
          <CommandText text={text} />
          {phase === "lost" && <Text size="sm">{t("lost")}</Text>}
          {phase === "refused" && (
            <Text size="sm" className="untrusted">
              {refusalText}
            </Text>
          )}
        </Stack>
        <Group gap="xs">
          <Badge
            color={phase === "refused" ? "red" : phase === "lost" ? "orange" : "blue"}
            variant="light"
            tt="none"
            size="lg"
          >
            {t(`phase.${phase}`)}
            {receipt && `, ${t("position", { count: receipt.position })}`}
          </Badge>
          {mayRetry && (
            <Button
              size="xs"
              variant="light"
              onClick={props.onRetry}
              disabled={waitMs > 0}
              className="numbers"
            >
              {waitMs > 0 ? t("retryIn", { age: format.duration(waitMs) }) : t("retry")}
            </Button>
          )}
          {phase === "refused" && !mayRetry && (
            <Button
              size="xs"
              variant="light"
              onClick={props.onReuse}
              aria-label={t("againName", { command: markInvisible(text) })}
            >
              {t("again")}
            </Button>
          )}
          {hasProblem && (
            <Button
              size="xs"
              variant="subtle"
              onClick={props.onDismiss}
              aria-label={t("dismissName", { command: markInvisible(text) })}
            >
              {t("dismiss")}
            </Button>
          )}
        </Group>
      </Group>
    </Paper>
  );
}
