// The view "Console": a command line, and the commands of this server with their status. Its name in the URL is "commands".

import { ActionIcon, Alert, Group, Paper, Tooltip, VisuallyHidden } from "@mantine/core";
import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import type { Section } from "../../../core/sections.ts";
import type { CommandResource } from "../../../core/wire/command.ts";
import { useDialog } from "../../parts/dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { FailedState, LoadingState } from "../../parts/states.tsx";
import { markInvisible } from "../../parts/text/game-text.tsx";
import { Heading } from "../../parts/text/plain-text.tsx";
import { ViewPage } from "../../parts/view-page.tsx";
import { useServerState } from "../../state/server/use-server-state.tsx";
import { endsSession, useCallerSession, useSession } from "../../state/session/session.ts";
import { CommandLine } from "./command-line.tsx";
import { CommandList, useCommandList } from "./command-list.tsx";
import { ConfirmSend, type Question } from "./confirm-send.tsx";
import { type Choices, judgeLine, meansTheSame, type WrittenPlan, writePlan } from "./judge-line.ts";
import { isStale, usePlayers, useRosterNote } from "./roster.ts";
import { SubmissionList } from "./submission-list.tsx";
import { getSubmissionStore, type Submission } from "./submissions.ts";

/** The map shows them, from this lazy file. */
export { GroupActions } from "./group-actions.tsx";

const WANTED: readonly Section[] = ["Players"];
/** How many names of allowed commands a refusal lists. */
const ALLOWED_SHOWN_MAX = 12;

export function CommandsView() {
  const { t } = useTranslation("commands");
  const { api } = useCallerSession();
  const { signOut } = useSession();
  const store = getSubmissionStore(api);
  const submissions = useSyncExternalStore(store.subscribe, store.read);
  const view = useServerState(WANTED);
  const players = usePlayers(view);
  const describeRoster = useRosterNote(view);
  const { allowed, readAllowed } = useAllowedCommands();
  const { commands, error, isFetching, refresh } = useCommandList();
  const [line, setLine] = useState("");
  const [problem, setProblem] = useState<string>();
  const confirming = useDialog<Question>();

  useEffect(() => {
    if (commands) store.removeListed(new Set(commands.map(({ command_id: id }) => id)));
  }, [store, commands]);

  function judge(text: string, names: readonly string[]) {
    return judgeLine(text, names, { players, isStale: isStale(view, Date.now()) });
  }
  async function submit(text: string) {
    let names = allowed;
    let judgement = judge(text, names);
    if (judgement.kind === "refused" && judgement.reason === "forbidden") {
      // The operator may have given the right since the user signed in.
      names = await readAllowed();
      judgement = judge(text, names);
    }
    if (judgement.kind === "ready") return void send(judgement.text);
    if (judgement.kind === "ask") return ask(text, judgement.plan, false);
    const isForbidden = judgement.reason === "forbidden";
    setProblem(isForbidden ? t("problem.forbidden", { names: writeNames(names) }) : t("problem.noCommand"));
  }
  function ask(typed: string, plan: Question["plan"], isAskedAgain: boolean) {
    confirming.open({ typed, plan, rosterNote: describeRoster(Date.now()), isAskedAgain });
  }
  /** Asks again when others are meant by now: somebody may have joined or left while the dialog was open. */
  function confirm({ typed }: Question, written: WrittenPlan, choices: Choices) {
    const again = judge(typed, allowed);
    if (again.kind === "refused") return void submit(typed);
    const { plan } = again;
    const now = plan && writePlan(plan, choices);
    if (plan && !(now && meansTheSame(now, written))) return ask(typed, plan, true);
    void send(written.text);
  }
  async function send(text: string) {
    changeLine("");
    handleResult(await store.submit(text));
  }
  async function retry(submission: Submission) {
    handleResult(await store.retry(submission));
  }
  function handleResult({ phase, error: refusal }: Submission) {
    if (phase === "accepted") refresh();
    else if (refusal && endsSession(refusal)) signOut(refusal);
  }
  function changeLine(text: string) {
    setLine(text);
    setProblem(undefined);
  }
  function reuse(submission: Submission) {
    changeLine(submission.text);
    store.remove(submission);
  }

  return (
    <ViewPage title={t("title")}>
      <Paper withBorder p="md">
        <CommandLine
          value={line}
          onChange={changeLine}
          onSend={(text) => void submit(text)}
          history={store.lines}
          players={players ?? []}
          allowed={allowed}
          problem={problem}
          note={view.missing.length > 0 ? t("noNames") : undefined}
        />
      </Paper>
      <ConfirmSend state={confirming} onConfirm={confirm} />

      <Group justify="space-between">
        <Heading>{t("list")}</Heading>
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
        <CommandList commands={commands} isAlone={submissions.length === 0} onReuse={changeLine} onChanged={refresh} />
      ) : error ? (
        <FailedState error={error} onRetry={refresh} />
      ) : (
        <LoadingState />
      )}
    </ViewPage>
  );
}

function writeNames(allowed: readonly string[]): string {
  const shown = allowed.slice(0, ALLOWED_SHOWN_MAX).join(" ");
  return markInvisible(allowed.length > ALLOWED_SHOWN_MAX ? `${shown} …` : shown);
}

/** The names of the commands that the key may send; `readAllowed` asks Gatehouse for them again. */
function useAllowedCommands() {
  const { api, commands } = useCallerSession();
  const [allowed, setAllowed] = useState(commands);
  async function readAllowed(): Promise<readonly string[]> {
    const answer = await api.readKey();
    if (!answer.ok) return allowed;
    setAllowed(answer.value.commands);
    return answer.value.commands;
  }
  return { allowed, readAllowed };
}

/** Announces what has changed since the previous list; the first list is not announced. */
export function Announcement({ commands }: { readonly commands: readonly CommandResource[] }) {
  const { t } = useTranslation("commands");
  const known = useRef<ReadonlyMap<string, string> | undefined>(undefined);
  const [text, setText] = useState("");
  useEffect(() => {
    const before = known.current;
    known.current = new Map(commands.map(({ command_id: id, status }) => [id, status]));
    const changed = commands.filter(({ command_id: id, status }) => before?.has(id) && before.get(id) !== status);
    if (changed.length === 0) return;
    setText(
      changed
        .map(({ command, status }) => t("change", { command: markInvisible(command), status: t(`status.${status}`) }))
        .join("; "),
    );
  }, [commands, t]);
  return <VisuallyHidden role="status">{text}</VisuallyHidden>;
}
