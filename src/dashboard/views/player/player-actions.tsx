// The commands for a player that this key may send: a button for each, and a form that names the player and shows the exact
// command before it is sent.

import { Button, Group, Paper, Stack, Text, TextInput, Title } from "@mantine/core";
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { COMMAND_CHARACTERS_MAX } from "../../../core/commands/command.ts";
import { Icon } from "../../parts/icon.tsx";
import { cutText, markInvisible, NamedSentence } from "../../parts/text/game-text.tsx";
import { Note } from "../../parts/text/plain-text.tsx";
import type { OpenablePlayer } from "../../state/open-player.ts";
import { useSession } from "../../state/session/session.ts";
import { CommandText } from "../commands/command-status.tsx";
import { listPlayerCommands, type PlayerCommand, type Presence, writePlayerCommand } from "./player-commands.ts";
import { findTarget, type PlayersHere, type Target } from "./player-target.ts";
import { SentCommands, useSentCommands } from "./sent-commands.tsx";

/** The buttons that are shown at once. */
const FIRST_COMMANDS = 3;
const NAME_MAX = 40;

type UsableTarget = Exclude<Target, { kind: "none" }>;

type Props = {
  readonly player: OpenablePlayer;
  readonly presence: Presence;
  readonly team: string | undefined;
  readonly here: PlayersHere;
};

export function PlayerActions(props: Props) {
  const { t } = useTranslation("player");
  const { session } = useSession();
  return (
    <Stack component="section" gap="xs" aria-label={t("actions.title")}>
      {session.kind === "caller" ? (
        <KeyActions {...props} rights={session.commands} />
      ) : (
        <Note>{t("actions.operator")}</Note>
      )}
    </Stack>
  );
}

/** What was sent stays when the player is gone, because that may be why. */
function KeyActions(props: Props & { readonly rights: readonly string[] }) {
  const { t } = useTranslation("player");
  const { rights, presence } = props;
  const commands = listPlayerCommands(rights, presence, props.team);
  const target = findTarget(props.player, props.here);
  const { sent, send, retry, dismiss } = useSentCommands();
  return (
    <>
      {commands.length === 0 ? (
        <Note>{t(presence === "away" && rights.length > 0 ? "actions.noRightAway" : "actions.noRight")}</Note>
      ) : target.kind === "none" ? (
        <Note>{t(`noTarget.${target.because}`)}</Note>
      ) : (
        <Commands player={props.player} target={target} commands={commands} onSend={send} />
      )}
      <SentCommands sent={sent} onRetry={retry} onDismiss={dismiss} />
    </>
  );
}

function Commands(props: {
  readonly player: Props["player"];
  readonly target: UsableTarget;
  readonly commands: readonly PlayerCommand[];
  readonly onSend: (text: string) => void;
}) {
  const { t } = useTranslation("player");
  const { commands } = props;
  const [chosenName, setChosen] = useState<PlayerCommand["name"]>();
  const [isLong, setLong] = useState(false);
  const buttons = useRef<HTMLDivElement>(null);
  const returnTo = useRef<string>(undefined);
  // Undefined too when the player has left meanwhile.
  const chosen = commands.find(({ name }) => name === chosenName);

  useEffect(() => {
    if (chosen || returnTo.current === undefined) return;
    const button = buttons.current?.querySelector<HTMLElement>(`[data-command="${returnTo.current}"]`);
    returnTo.current = undefined;
    button?.focus();
  }, [chosen]);

  if (chosen) {
    return (
      <CommandForm
        key={chosen.name}
        command={chosen}
        player={props.player}
        target={props.target}
        onSend={props.onSend}
        onClose={() => {
          returnTo.current = chosen.name;
          setChosen(undefined);
        }}
      />
    );
  }
  return (
    <Group gap="xs" ref={buttons}>
      {(isLong ? commands : commands.slice(0, FIRST_COMMANDS)).map((command) => (
        <Button
          key={command.name}
          size="sm"
          px="sm"
          variant={command.name === "pm" ? "filled" : command.isGrave ? "outline" : "default"}
          {...(command.isGrave && { color: "red" })}
          data-command={command.name}
          onClick={() => setChosen(command.name)}
        >
          {t(`command.${command.name}`)}
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
          {t(isLong ? "actions.less" : "actions.more")}
        </Button>
      )}
    </Group>
  );
}

function CommandForm(props: {
  readonly command: PlayerCommand;
  readonly player: OpenablePlayer;
  readonly target: UsableTarget;
  readonly onSend: (text: string) => void;
  readonly onClose: () => void;
}) {
  const { t } = useTranslation(["player", "shell"]);
  const { command, player, target } = props;
  const [words, setWords] = useState("");
  const [isTried, setTried] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const cancel = useRef<HTMLButtonElement>(null);
  const send = useRef<HTMLButtonElement>(null);
  const isSent = useRef(false);
  const draft = writePlayerCommand(command, target, words);
  const isMessage = command.text === "required";
  const error = useDraftError(draft, isTried);

  // Without a field the form begins at the button that sends nothing.
  useEffect(() => (input.current ?? cancel.current)?.focus(), []);

  function submit(event: FormEvent) {
    event.preventDefault();
    setTried(true);
    if (draft.kind === "unready") return input.current?.focus();
    // The second tap of a double tap comes before the form has closed.
    if (isSent.current) return;
    isSent.current = true;
    props.onClose();
    props.onSend(draft.text);
  }

  /** The Enter that opened the form may still be held, and after a second one without a reason the button has to be pressed. */
  function holdBack(event: KeyboardEvent) {
    if (event.key !== "Enter") return;
    const isSlip = event.target === input.current && !isMessage && words.trim() === "";
    if (event.repeat || isSlip) event.preventDefault();
    if (isSlip && !event.repeat) send.current?.focus();
  }

  return (
    <Paper
      component="form"
      withBorder
      p="sm"
      onSubmit={submit}
      onKeyDown={holdBack}
      noValidate
      aria-label={markInvisible(`${t(`player:command.${command.name}`)}: ${cutText(player.name, NAME_MAX).text}`)}
    >
      <Stack gap="xs">
        <Title order={3} size="h5" className="untrusted">
          <NamedSentence
            names={[player.name || t("player:unnamed"), player.id]}
            max={NAME_MAX}
            write={(name = "", id = "") =>
              isMessage
                ? t("player:confirm.pm", { name, id })
                : t("player:confirm.other", { command: t(`player:command.${command.name}`), name, id })
            }
          />
        </Title>
        {command.text !== "none" && (
          <TextInput
            ref={input}
            label={t(isMessage ? "player:confirm.text" : "player:confirm.reason")}
            value={words}
            onChange={(event) => setWords(event.currentTarget.value)}
            error={error}
            autoComplete="off"
            enterKeyHint="send"
          />
        )}
        <div>
          <Note>{t("player:confirm.exactly")}</Note>
          <CommandText text={draft.kind === "ready" ? draft.text : `:${command.name} ${target.text} …`} isBlock />
          {target.kind === "id" && (
            <Text size="sm" mt={4}>
              {t(`player:byId.${target.because}`)}
            </Text>
          )}
        </div>
        <Group justify="flex-end" gap="xs">
          <Button ref={cancel} variant="default" onClick={props.onClose}>
            {t("shell:cancel")}
          </Button>
          <Button ref={send} type="submit" {...(command.isGrave && { color: "red" })}>
            {isMessage ? t("player:confirm.send") : t(`player:command.${command.name}`)}
          </Button>
        </Group>
      </Stack>
    </Paper>
  );
}

function useDraftError(draft: ReturnType<typeof writePlayerCommand>, isTried: boolean): string | undefined {
  const { t } = useTranslation("player");
  if (draft.kind === "ready" || draft.because === "noTarget") return undefined;
  if (draft.because === "noText") return isTried ? t("confirm.empty") : undefined;
  return t(`confirm.${draft.because}`, { n: COMMAND_CHARACTERS_MAX });
}
