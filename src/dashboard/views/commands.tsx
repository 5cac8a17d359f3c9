// The view "commands": a line to type in, and what became of everything that was sent to this server.
import {
  ActionIcon,
  Alert,
  Badge,
  Button,
  Code,
  Group,
  Paper,
  Stack,
  Text,
  Title,
  Tooltip,
  VisuallyHidden,
} from "@mantine/core";
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { ERRORS } from "../../core/errors.ts";
import type { Section } from "../../core/sections.ts";
import type { CommandReport, Page } from "../api/caller.ts";
import type { ApiError, Outcome } from "../api/request.ts";
import { ConfirmDialog, useDialog } from "../parts/dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { EmptyState, FailedState, LoadingState } from "../parts/states.tsx";
import { ViewPage } from "../parts/view-page.tsx";
import { parsePlayerRef } from "../player-ref.ts";
import { endsSession, useCallerSession, useSession } from "../state/session.ts";
import { useFormat } from "../state/use-format.ts";
import { useNow } from "../state/use-now.ts";
import { usePacedQuery } from "../state/use-paced-query.ts";
import { useServerState } from "../state/use-server-state.tsx";
import { CommandLine } from "./command-line.tsx";
import { isUnfinished, StateDetails, StatusBadge } from "./command-state.tsx";
import { findDesk, type Submission } from "./command-submissions.ts";
import { findDanger } from "./command-words.ts";

const WANTED: readonly Section[] = ["Players"];
/** While the head of the queue is among them, things change every few seconds. */
const BUSY_MS = 2_500;
const WAITING_MS = 5_000;
/** Nothing waits, but the game's log may still show what was sent. */
const CONFIRMING_MS = 8_000;
const CONFIRMING_FOR_MS = 60_000;
const AFTER_FAILURE_MS = 10_000;

export function CommandsView() {
  const { t } = useTranslation("commands");
  const { api } = useCallerSession();
  const { signOut } = useSession();
  const desk = findDesk(api);
  const submissions = useSyncExternalStore(desk.subscribe, desk.read);
  const view = useServerState(WANTED);
  const players = useMemo(
    () => (view.state?.Players ?? []).map(({ Player }) => parsePlayerRef(Player)),
    [view.state?.Players],
  );
  const { outcome, refresh, isAsking } = usePacedQuery(
    ["commands"],
    (signal) => api.listCommands({}, signal),
    judgeInterval,
  );
  const list = useLastGood(outcome);
  const [line, setLine] = useState("");
  const asking = useDialog<string>();
  const danger = findDanger(asking.item ?? "");

  useEffect(() => {
    if (list) desk.forgetListed(new Set(list.items.map(({ command_id: id }) => id)));
  }, [desk, list]);

  async function send(text: string) {
    setLine("");
    follow(await desk.submit(text));
  }
  async function retry(submission: Submission) {
    follow(await desk.retry(submission));
  }
  function follow({ phase, error }: Submission) {
    if (phase === "accepted") refresh();
    else if (error && endsSession(error)) signOut(error);
  }

  return (
    <ViewPage title={t("title")} summary={t("summary")}>
      <Paper withBorder p="md">
        <CommandLine
          value={line}
          onChange={setLine}
          onSend={(text) => (findDanger(text) ? asking.open(text) : void send(text))}
          history={desk.lines}
          players={players}
          note={view.missing.length > 0 ? t("noNames") : undefined}
        />
      </Paper>
      <ConfirmDialog
        state={asking}
        title={t("confirm.title")}
        label={t("confirm.send")}
        onConfirm={(text) => void send(text)}
      >
        {(text) => (
          <>
            <Text>{t(danger === "everybody" ? "confirm.everybody" : "confirm.grave")}</Text>
            <Code block className="untrusted command-text">
              {text}
            </Code>
          </>
        )}
      </ConfirmDialog>

      <Group justify="space-between">
        <Title order={2} size="h4">
          {t("list")}
        </Title>
        <Tooltip label={t("refresh")}>
          <ActionIcon aria-label={t("refresh")} aria-busy={isAsking} onClick={refresh}>
            <Icon name="refresh" size={18} />
          </ActionIcon>
        </Tooltip>
      </Group>
      {outcome?.ok === false && list && (
        <Alert color="orange" icon={<Icon name="warning" />}>
          {t("stale", { message: outcome.error.message, code: outcome.error.code })}
        </Alert>
      )}
      <Announcement commands={list?.items ?? []} />
      {submissions.length > 0 && (
        <Stack gap="xs" component="ul" className="plain-list">
          {submissions.map((submission) => (
            <SubmissionRow
              key={submission.idempotencyKey}
              submission={submission}
              onRetry={() => void retry(submission)}
              onForget={() => desk.forget(submission)}
              onReuse={() => {
                setLine(submission.text);
                desk.forget(submission);
              }}
            />
          ))}
        </Stack>
      )}
      {list ? (
        <CommandList
          commands={list.items}
          isAlone={submissions.length === 0}
          onReuse={setLine}
          onChanged={refresh}
        />
      ) : outcome?.ok === false ? (
        <FailedState error={outcome.error} onRetry={refresh} />
      ) : (
        <LoadingState />
      )}
    </ViewPage>
  );
}

function CommandList(props: {
  readonly commands: readonly CommandReport[];
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
  readonly command: CommandReport;
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
          <Code className="untrusted command-text">{command.command}</Code>
          <StateDetails command={command} />
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
              aria-label={t("cancelName", { command: command.command })}
            >
              {t("cancel")}
            </Button>
          ) : (
            command.status !== "sending" && (
              <Button
                size="xs"
                variant="subtle"
                onClick={props.onReuse}
                aria-label={t("againName", { command: command.command })}
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

function SubmissionRow(props: {
  readonly submission: Submission;
  readonly onRetry: () => void;
  readonly onForget: () => void;
  readonly onReuse: () => void;
}) {
  const { t } = useTranslation("commands");
  const format = useFormat();
  const now = useNow();
  const { submission } = props;
  const { phase, text, error, retryAt, receipt } = submission;
  const waitMs = Math.max(0, (retryAt ?? 0) - now);
  const words = useRefusalWords(error);
  const isTroubled = phase === "lost" || phase === "refused";
  const mayRetry = phase === "lost" || (phase === "refused" && isForTheMoment(error));
  return (
    <Paper
      component="li"
      withBorder
      p="sm"
      data-phase={phase}
      className={isTroubled ? "troubled" : undefined}
    >
      <Group justify="space-between" align="flex-start" gap="xs">
        <Stack gap={4} flex="1 1 16rem" miw={0} role={isTroubled ? "alert" : undefined}>
          <Code className="untrusted command-text">{text}</Code>
          {phase === "lost" && <Text size="sm">{t("lost")}</Text>}
          {phase === "refused" && (
            <Text size="sm" className="untrusted">
              {words}
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
              aria-label={t("againName", { command: text })}
            >
              {t("again")}
            </Button>
          )}
          {isTroubled && (
            <Button
              size="xs"
              variant="subtle"
              onClick={props.onForget}
              aria-label={t("dismissName", { command: text })}
            >
              {t("dismiss")}
            </Button>
          )}
        </Group>
      </Group>
    </Paper>
  );
}

const EXPLAINED = [
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

function useRefusalWords(error: ApiError | undefined): string {
  const { t } = useTranslation("commands");
  if (!error) return "";
  const { code, message, details } = error;
  const known = EXPLAINED.find((other) => other === code);
  if (known === undefined) return t("refusal.other", { message, code });
  const reason = Object.values(details ?? {}).join("; ") || message;
  return `${t(`refusal.${known}`, { reason })} (${code})`;
}

/** The same text may be taken a little later. */
function isForTheMoment(error: ApiError | undefined): boolean {
  const code = error?.code;
  return (
    code === ERRORS.queueFull.code ||
    code === ERRORS.rateLimited.code ||
    code === ERRORS.spamBlocked.code ||
    code === ERRORS.unavailable.code
  );
}

/** Says aloud what has changed since the list was read before. */
function Announcement({ commands }: { readonly commands: readonly CommandReport[] }) {
  const { t } = useTranslation("commands");
  const known = useRef<ReadonlyMap<string, string> | undefined>(undefined);
  const [text, setText] = useState("");
  useEffect(() => {
    const before = known.current;
    known.current = new Map(commands.map(({ command_id: id, status }) => [id, status]));
    const changed = commands.filter(
      ({ command_id: id, status }) => before?.has(id) && before.get(id) !== status,
    );
    if (changed.length === 0) return;
    setText(
      changed
        .map(({ command, status }) => t("change", { command, status: t(`status.${status}`) }))
        .join("; "),
    );
  }, [commands, t]);
  return <VisuallyHidden role="status">{text}</VisuallyHidden>;
}

/** A list that cannot be read for a moment does not take the last one away. */
function useLastGood(outcome: Outcome<Page<CommandReport>> | undefined): Page<CommandReport> | undefined {
  const last = useRef<Page<CommandReport>>(undefined);
  if (outcome?.ok) last.current = outcome.value;
  return last.current;
}

/** How soon the list is worth reading again; never, while nothing of it can change. */
function judgeInterval(outcome: Outcome<Page<CommandReport>>): number | false {
  if (!outcome.ok) return AFTER_FAILURE_MS;
  const { items } = outcome.value;
  const now = outcome.receivedAt;
  if (items.some(({ status, position }) => status === "sending" || position === 1)) return BUSY_MS;
  if (items.some(isUnfinished)) return WAITING_MS;
  const isConfirming = items.some(({ status, confirmed_at: confirmedAt, finished_at: finishedAt }) => {
    const isOpen = (status === "sent" || status === "unknown") && confirmedAt === null;
    return isOpen && finishedAt !== null && now - finishedAt < CONFIRMING_FOR_MS;
  });
  return isConfirming ? CONFIRMING_MS : false;
}
