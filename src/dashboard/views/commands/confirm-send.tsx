// The confirmation of a command: what is sent, why it is asked about, and everybody whom it is for, by name and id. Where a
// target means several players, the user chooses.

import { Box, Checkbox, Fieldset, List, Stack, Text } from "@mantine/core";
import { type ReactNode, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Dialog, DialogButtons, type DialogState } from "../../parts/dialog.tsx";
import { NamedSentence } from "../../parts/text/game-text.tsx";
import { Note } from "../../parts/text/plain-text.tsx";
import { CandidateText } from "./candidate-text.tsx";
import { CommandText } from "./command-status.tsx";
import { type Choices, choiceKey, isSendable, type Plan, type WrittenPlan, writePlan } from "./judge-line.ts";
import { type Candidate, keyOfPlayer, type Target } from "./targets.ts";

/** More players are counted, not listed. */
const PLAYERS_SHOWN_MAX = 200;
/** The targets that a note explains; the others are explained by the list or the choice of players. */
const NOTED_KINDS: ReadonlySet<Target["kind"]> = new Set(["everybody", "team", "part", "sender", "nobody"]);

export type Question = {
  /** The line as the user typed it. */
  readonly typed: string;
  readonly plan: Plan;
  /** Why the players cannot be checked, or how old they are; undefined when they are fresh. */
  readonly rosterNote: string | undefined;
  /** Whether the players changed after the user had confirmed. */
  readonly isAskedAgain: boolean;
};

export function ConfirmSend(props: {
  readonly state: DialogState<Question>;
  readonly onConfirm: (question: Question, written: WrittenPlan, choices: Choices) => void;
}) {
  const { t } = useTranslation("commands");
  const { state } = props;
  const confirmedAt = useRef<number>(undefined);
  return (
    <Dialog state={state} title={t("confirm.title")}>
      {(question) => (
        <QuestionForm
          question={question}
          onCancel={state.close}
          onConfirm={(written, choices) => {
            // The second tap of a double tap comes before the dialog has closed.
            if (confirmedAt.current === state.opening) return;
            confirmedAt.current = state.opening;
            state.close();
            props.onConfirm(question, written, choices);
          }}
        />
      )}
    </Dialog>
  );
}

function QuestionForm(props: {
  readonly question: Question;
  readonly onCancel: () => void;
  readonly onConfirm: (written: WrittenPlan, choices: Choices) => void;
}) {
  const { t } = useTranslation("commands");
  const { plan } = props.question;
  const [choices, setChoices] = useState<Choices>(new Map());
  const written = writePlan(plan, choices);
  const isTooLong = written !== undefined && !isSendable(written.text);
  const count = written?.meant[0]?.length ?? 0;
  return (
    <Stack gap="sm">
      <Notes question={props.question} />
      {plan.targets.map((targets, index) =>
        targets.map((target, position) => {
          const key = choiceKey(index, position);
          return (
            target.kind === "several" && (
              <PlayerChoice
                key={key}
                target={target}
                chosen={choices.get(key) ?? new Set()}
                onChange={(chosen) => setChoices((old) => new Map(old).set(key, chosen))}
              />
            )
          );
        }),
      )}
      {written?.meant.map((meant, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: arguments are identified by their position
        <MeantPlayers key={index} meant={meant} isGoal={index > 0} />
      ))}
      {written ? <CommandText text={written.text} isBlock /> : <Text size="sm">{t("confirm.choose")}</Text>}
      {isTooLong && (
        <Text size="sm" c="red" role="alert">
          {t("unsendable")}
        </Text>
      )}
      <DialogButtons
        label={count > 1 ? t("confirm.sendTo", { count }) : t("confirm.send")}
        isDangerous
        isDisabled={!written || isTooLong}
        onCancel={props.onCancel}
        onConfirm={() => written && props.onConfirm(written, choices)}
      />
    </Stack>
  );
}

function Notes({ question }: { readonly question: Question }) {
  const { t } = useTranslation("commands");
  const { plan, rosterNote } = question;
  const notes: ReactNode[] = plan.concerns.map((concern) =>
    concern === "unchecked" || concern === "stale" ? rosterNote : t(`confirm.${concern}`),
  );
  for (const [index, targets] of plan.targets.entries()) {
    const mayBeAbsent = plan.line.targets[index]?.kind === "users";
    const noted = targets.filter(({ kind }) => NOTED_KINDS.has(kind));
    notes.push(...noted.map((target) => <TargetNote key={target.word} target={target} mayBeAbsent={mayBeAbsent} />));
  }
  if (question.isAskedAgain) notes.unshift(t("confirm.changed"));
  if (notes.length === 0) return null;
  return (
    <List size="sm" listStyleType="none" className="confirm-note">
      {notes.map((note, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the notes of a question never change
        <List.Item key={index}>{note}</List.Item>
      ))}
    </List>
  );
}

/** Why this target is asked about. */
function TargetNote({ target, mayBeAbsent }: { readonly target: Target; readonly mayBeAbsent: boolean }) {
  const { t } = useTranslation("commands");
  const { word } = target;
  const say = (write: (name: string) => string) => <NamedSentence names={[word]} write={(name = "") => write(name)} />;
  switch (target.kind) {
    case "everybody":
    case "team": {
      const count = target.players?.length;
      if (count === undefined) return say((name) => t(`confirm.${target.kind}Uncounted`, { word: name }));
      return say((name) => t(`confirm.${target.kind}`, { word: name, count }));
    }
    case "part":
      return say((name) => t("confirm.part", { word: name }));
    case "sender":
      return say((name) => t("confirm.sender", { word: name }));
    case "nobody":
      return say((name) => t(mayBeAbsent ? "confirm.nobodyHere" : "confirm.nobody", { word: name }));
    default:
      return null;
  }
}

function PlayerChoice(props: {
  readonly target: Target & { readonly kind: "several" };
  readonly chosen: ReadonlySet<string>;
  readonly onChange: (chosen: ReadonlySet<string>) => void;
}) {
  const { t } = useTranslation("commands");
  const { target, chosen } = props;
  const { players, word } = target;
  const legend = (
    <span className="confirm-note">
      <NamedSentence names={[word]} write={(name) => t("confirm.several", { word: name, count: players.length })} />
    </span>
  );
  return (
    <Fieldset legend={legend} p="sm" miw={0}>
      <Stack gap="xs" className="meant-players">
        {players.slice(0, PLAYERS_SHOWN_MAX).map((player, index) => {
          const key = keyOfPlayer(player);
          return (
            <Checkbox
              key={key}
              label={<CandidateText player={player} />}
              checked={chosen.has(key)}
              data-autofocus={index === 0 || undefined}
              onChange={({ currentTarget }) => {
                const next = new Set(chosen);
                if (currentTarget.checked) next.add(key);
                else next.delete(key);
                props.onChange(next);
              }}
            />
          );
        })}
        <More count={players.length - PLAYERS_SHOWN_MAX} />
      </Stack>
    </Fieldset>
  );
}

/** `isGoal`: the players to whom others are teleported. */
function MeantPlayers(props: { readonly meant: readonly Candidate[] | undefined; readonly isGoal: boolean }) {
  const { t } = useTranslation("commands");
  const { meant } = props;
  if (!meant || meant.length === 0) return null;
  const title = t(props.isGoal ? "confirm.goal" : "confirm.meant", { count: meant.length });
  return (
    <div>
      <Text size="sm" fw={600} aria-hidden>
        {title}
      </Text>
      {/* Focusable, because a long list scrolls. */}
      <Box className="meant-players" role="group" aria-label={title} tabIndex={meant.length > 5 ? 0 : undefined}>
        <ul className="plain-list">
          {meant.slice(0, PLAYERS_SHOWN_MAX).map((player) => (
            <li key={keyOfPlayer(player)}>
              <CandidateText player={player} />
            </li>
          ))}
        </ul>
        <More count={meant.length - PLAYERS_SHOWN_MAX} />
      </Box>
    </div>
  );
}

function More({ count }: { readonly count: number }) {
  const { t } = useTranslation("commands");
  return count > 0 && <Note>{t("confirm.more", { count })}</Note>;
}
