// The view "commands": a command line, and the commands of this server with their status.
import { ActionIcon, Alert, Group, Paper, Text, Title, Tooltip } from "@mantine/core";
import { useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import type { Section } from "../../core/sections.ts";
import { ConfirmDialog, useDialog } from "../parts/dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { FailedState, LoadingState } from "../parts/states.tsx";
import { ViewPage } from "../parts/view-page.tsx";
import { parsePlayerRef } from "../player-ref.ts";
import { endsSession, useCallerSession, useSession } from "../state/session.ts";
import { useServerState } from "../state/use-server-state.tsx";
import { Announcement } from "./commands/announcement.tsx";
import { CommandLine } from "./commands/command-line.tsx";
import { CommandList } from "./commands/command-list.tsx";
import { CommandText } from "./commands/command-text.tsx";
import { SubmissionList } from "./commands/submission-list.tsx";
import { getSubmissionStore, type Submission } from "./commands/submissions.ts";
import { useCommandList } from "./commands/use-command-list.ts";
import { findDanger } from "./known-commands.ts";

const WANTED: readonly Section[] = ["Players"];

export function CommandsView() {
  const { t } = useTranslation("commands");
  const { api } = useCallerSession();
  const { signOut } = useSession();
  const store = getSubmissionStore(api);
  const submissions = useSyncExternalStore(store.subscribe, store.read);
  const view = useServerState(WANTED);
  const players = useMemo(
    () => (view.state?.Players ?? []).map(({ Player }) => parsePlayerRef(Player)),
    [view.state?.Players],
  );
  const { commands, error, isFetching, refresh } = useCommandList();
  const [line, setLine] = useState("");
  const confirming = useDialog<string>();
  const danger = findDanger(confirming.item ?? "");

  useEffect(() => {
    if (commands) store.removeListed(new Set(commands.map(({ command_id: id }) => id)));
  }, [store, commands]);

  async function send(text: string) {
    setLine("");
    handleResult(await store.submit(text));
  }
  async function retry(submission: Submission) {
    handleResult(await store.retry(submission));
  }
  function handleResult({ phase, error: refusal }: Submission) {
    if (phase === "accepted") refresh();
    else if (refusal && endsSession(refusal)) signOut(refusal);
  }
  function reuse(submission: Submission) {
    setLine(submission.text);
    store.remove(submission);
  }

  return (
    <ViewPage title={t("title")} summary={t("summary")}>
      <Paper withBorder p="md">
        <CommandLine
          value={line}
          onChange={setLine}
          onSend={(text) => (findDanger(text) ? confirming.open(text) : void send(text))}
          history={store.lines}
          players={players}
          note={view.missing.length > 0 ? t("noNames") : undefined}
        />
      </Paper>
      <ConfirmDialog
        state={confirming}
        title={t("confirm.title")}
        label={t("confirm.send")}
        onConfirm={(text) => void send(text)}
      >
        {(text) => (
          <>
            <Text>{t(danger === "everybody" ? "confirm.everybody" : "confirm.grave")}</Text>
            <CommandText text={text} isBlock />
          </>
        )}
      </ConfirmDialog>

      <Group justify="space-between">
        <Title order={2} size="h4">
          {t("list")}
        </Title>
        <Tooltip label={t("refresh")}>
          <ActionIcon aria-label={t("refresh")} aria-busy={isFetching} onClick={refresh}>
            <Icon name="refresh" size={18} />
          </ActionIcon>
        </Tooltip>
      </Group>
      {error && commands && (
        <Alert color="orange" icon={<Icon name="warning" />}>
          {t("stale", { message: error.message, code: error.code })}
        </Alert>
      )}
      <Announcement commands={commands ?? []} />
      <SubmissionList
        submissions={submissions}
        onRetry={(submission) => void retry(submission)}
        onDismiss={(submission) => store.remove(submission)}
        onReuse={reuse}
      />
      {commands ? (
        <CommandList
          commands={commands}
          isAlone={submissions.length === 0}
          onReuse={setLine}
          onChanged={refresh}
        />
      ) : error ? (
        <FailedState error={error} onRetry={refresh} />
      ) : (
        <LoadingState />
      )}
    </ViewPage>
  );
}
