// Commands for several players at once: each is named by the id, everybody is shown with name and id before it is sent, and who
// is meant is judged again when it is.
import { Button, Group, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { Section } from "../../../core/sections.ts";
import { useDialog } from "../../parts/dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { isPlayerId } from "../../player-ref.ts";
import { useServerState } from "../../state/server/use-server-state.tsx";
import { useCallerSession } from "../../state/session/session.ts";
import { listPlayerCommands, type PlayerCommand } from "../player/player-commands.ts";
import { SentCommands, useSentCommands } from "../player/sent-commands.tsx";
import { ConfirmSend, type Question } from "./confirm-send.tsx";
import { type Choices, judgeLine, meansTheSame, type Plan, type WrittenPlan, writePlan } from "./judge-line.ts";
import { isStale, usePlayers, useRosterNote } from "./roster.ts";
import type { Candidate } from "./targets.ts";

const WANTED: readonly Section[] = ["Players"];
/** The buttons that are shown at once. */
const FIRST_COMMANDS = 3;

export function GroupActions({ players }: { readonly players: readonly Candidate[] }) {
  const { t } = useTranslation(["player", "commands"]);
  const { commands: rights } = useCallerSession();
  const view = useServerState(WANTED);
  const roster = usePlayers(view);
  const describeRoster = useRosterNote(view);
  const confirming = useDialog<Question>();
  const { sent, send, retry, dismiss } = useSentCommands();
  const [words, setWords] = useState("");
  const [isLong, setLong] = useState(false);
  const ids = players.flatMap(({ id }) => (id !== undefined && isPlayerId(id) ? id : []));
  // Who is in jail, and who is not, decides what is offered for one player; several can be both.
  const commands = listPlayerCommands(rights, "unknown", undefined).filter(({ name }) => name !== "unban");

  function judge(line: string): Plan | undefined {
    const judged = judgeLine(line, rights, { players: roster, isStale: isStale(view, Date.now()), isById: true });
    return judged.kind === "refused" ? undefined : judged.plan;
  }
  function ask(typed: string, isAskedAgain: boolean) {
    const plan = judge(typed);
    if (plan) confirming.open({ typed, plan, rosterNote: describeRoster(Date.now()), isAskedAgain });
  }
  function confirm({ typed }: Question, written: WrittenPlan, choices: Choices) {
    const plan = judge(typed);
    const now = plan && writePlan(plan, choices);
    if (!now || !meansTheSame(now, written)) return ask(typed, true);
    setWords("");
    send(written.text);
  }
  function write({ name, text }: PlayerCommand): string {
    // A comma would go on with the list of players.
    const rest = text === "none" ? "" : words.replace(/^[\s,]+/u, "").trim();
    return [`:${name}`, ids.join(), rest].filter((part) => part !== "").join(" ");
  }

  return (
    <Stack gap="xs" component="section" aria-label={t("player:actions.title")}>
      {commands.some(({ text }) => text !== "none") && (
        <TextInput
          size="sm"
          aria-label={t("commands:group.text")}
          placeholder={t("commands:group.text")}
          value={words}
          onChange={(event) => setWords(event.currentTarget.value)}
          autoComplete="off"
        />
      )}
      <Group gap="xs">
        {(isLong ? commands : commands.slice(0, FIRST_COMMANDS)).map((command) => (
          <Button
            key={command.name}
            size="sm"
            px="sm"
            variant={command.isGrave ? "outline" : "default"}
            {...(command.isGrave && { color: "red" })}
            disabled={ids.length === 0 || (command.text === "required" && words.trim() === "")}
            onClick={() => ask(write(command), false)}
          >
            {t(`player:command.${command.name}`)}
          </Button>
        ))}
        {commands.length > FIRST_COMMANDS && (
          <Button
            size="sm"
            px="sm"
            variant="subtle"
            aria-expanded={isLong}
            leftSection={<Icon name={isLong ? "minus" : "plus"} size={16} />}
            onClick={() => setLong(!isLong)}
          >
            {t(isLong ? "player:actions.less" : "player:actions.more")}
          </Button>
        )}
      </Group>
      <ConfirmSend state={confirming} onConfirm={confirm} />
      <SentCommands sent={sent} onRetry={retry} onDismiss={dismiss} />
    </Stack>
  );
}
