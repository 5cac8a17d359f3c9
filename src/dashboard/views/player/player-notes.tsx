// The notes about a player: what is written, and a form to write another note or a warning.
import { ActionIcon, Badge, Button, Group, Paper, Stack, Text, Textarea } from "@mantine/core";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { seesAllCommands } from "../../../core/commands/command.ts";
import { ERRORS } from "../../../core/errors.ts";
import { NOTE_KINDS, NOTE_LENGTH_MAX, NOTES_MAX, type NoteKind } from "../../../core/players/vocabulary.ts";
import type { NoteResource } from "../../../core/wire/players.ts";
import type { ApiError } from "../../api/request.ts";
import { Icon } from "../../parts/icon.tsx";
import { FailureLine } from "../../parts/states.tsx";
import { GameText, MarkedText } from "../../parts/text/game-text.tsx";
import { Heading, Note } from "../../parts/text/plain-text.tsx";
import { Ago } from "../../parts/text/time.tsx";
import { useCallerSession } from "../../state/session/session.ts";

const NOTES_SHOWN = 5;

/** `onChange` is called when a note was written or deleted. */
export function PlayerNotes(props: {
  readonly id: string;
  readonly notes: readonly NoteResource[];
  readonly onChange: () => void;
}) {
  const { t } = useTranslation("player");
  const { id, notes, onChange } = props;
  const [kind, setKind] = useState<NoteKind>();
  const [shown, setShown] = useState(NOTES_SHOWN);
  const buttons = useRef<HTMLDivElement>(null);
  const returnTo = useRef<NoteKind>(undefined);
  const isFull = notes.length >= NOTES_MAX;

  // The form has taken the place of the buttons, and the focus with it.
  useEffect(() => {
    if (kind !== undefined || returnTo.current === undefined) return;
    buttons.current?.querySelector<HTMLElement>(`[data-kind="${returnTo.current}"]`)?.focus();
    returnTo.current = undefined;
  }, [kind]);

  function close(): void {
    returnTo.current = kind;
    setKind(undefined);
  }

  return (
    <Stack component="section" gap="xs" aria-label={t("notes.title")}>
      <Group justify="space-between" gap="xs">
        <Heading order={3} className="record-heading">
          {t("notes.title")}
        </Heading>
        {kind === undefined && !isFull && (
          <Group gap={6} ref={buttons}>
            {NOTE_KINDS.map((name) => (
              <Button
                key={name}
                size="compact-sm"
                variant="default"
                data-kind={name}
                leftSection={<Icon name="plus" size={14} />}
                onClick={() => setKind(name)}
              >
                {t(`notes.add.${name}`)}
              </Button>
            ))}
          </Group>
        )}
      </Group>
      {kind !== undefined && (
        <NoteForm
          key={kind}
          id={id}
          kind={kind}
          onClose={close}
          onSaved={() => {
            close();
            onChange();
          }}
        />
      )}
      {isFull && <Note>{t("notes.full", { n: NOTES_MAX })}</Note>}
      {notes.length === 0 && kind === undefined && <Note>{t("notes.none")}</Note>}
      <ul className="plain-list record-list">
        {notes.slice(0, shown).map((note) => (
          <NoteLine key={note.note_id} id={id} note={note} onDeleted={onChange} />
        ))}
      </ul>
      {notes.length > shown && (
        <Group>
          <Button size="xs" variant="subtle" onClick={() => setShown(NOTES_MAX)}>
            {t("notes.more", { n: notes.length - shown })}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

function NoteForm(props: {
  readonly id: string;
  readonly kind: NoteKind;
  readonly onSaved: () => void;
  readonly onClose: () => void;
}) {
  const { t } = useTranslation(["player", "shell"]);
  const { api } = useCallerSession();
  const { id, kind } = props;
  const [text, setText] = useState("");
  const [isTried, setTried] = useState(false);
  const [isSaving, setSaving] = useState(false);
  const [error, setError] = useState<ApiError>();
  const length = Array.from(text.trim()).length;
  const fault = length === 0 ? "empty" : length > NOTE_LENGTH_MAX ? "tooLong" : undefined;

  async function save(event: FormEvent): Promise<void> {
    event.preventDefault();
    setTried(true);
    // Without this a double click would write it twice.
    if (fault || isSaving) return;
    setSaving(true);
    const outcome = await api.addNote(id, { text: text.trim(), kind });
    setSaving(false);
    if (outcome.ok) props.onSaved();
    else setError(outcome.error);
  }

  return (
    <Paper component="form" withBorder p="sm" noValidate onSubmit={(event) => void save(event)}>
      <Textarea
        label={t(`player:notes.label.${kind}`)}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        error={fault && (isTried || fault === "tooLong") && t(`player:notes.${fault}`, { n: NOTE_LENGTH_MAX })}
        autosize
        minRows={2}
        maxRows={8}
        autoFocus
      />
      {error && <NoteFailure error={error} />}
      <Group justify="flex-end" gap="xs" mt="xs">
        <Button size="sm" variant="default" onClick={props.onClose}>
          {t("shell:cancel")}
        </Button>
        <Button size="sm" type="submit" aria-disabled={isSaving || undefined}>
          {t(`player:notes.save.${kind}`)}
        </Button>
      </Group>
    </Paper>
  );
}

function NoteFailure({ error }: { readonly error: ApiError }) {
  const { t } = useTranslation("player");
  if (error.code === ERRORS.conflict.code) return <Note>{t("notes.full", { n: NOTES_MAX })}</Note>;
  if (error.code === ERRORS.notFound.code) return <Note>{t("notes.gone")}</Note>;
  return <FailureLine error={error} />;
}

function NoteLine(props: { readonly id: string; readonly note: NoteResource; readonly onDeleted: () => void }) {
  const { t } = useTranslation(["player", "shell"]);
  const { api, commands, ownKey } = useCallerSession();
  const { note } = props;
  const [isAsking, setAsking] = useState(false);
  const [error, setError] = useState<ApiError>();

  async function remove(): Promise<void> {
    const outcome = await api.deleteNote(props.id, note.note_id);
    // Somebody else has deleted it.
    if (outcome.ok || outcome.error.code === ERRORS.notFound.code) props.onDeleted();
    else setError(outcome.error);
  }

  return (
    <li>
      <div className="untrusted">
        {note.text.split("\n").map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines are identified by their position
          <Text key={index} size="sm" mih="1em">
            <MarkedText text={line.replaceAll("\t", " ")} />
          </Text>
        ))}
      </div>
      <Group gap={6} c="dimmed" fz="sm" mih="1.75rem">
        {note.kind === "warning" && (
          <Badge size="sm" variant="light" color="orange" tt="none">
            {t("player:notes.kind.warning")}
          </Badge>
        )}
        <GameText text={note.by.name} /> <Ago at={note.at} />
        {mayDelete(note, commands, ownKey.key_id) && !isAsking && (
          <ActionIcon
            variant="subtle"
            color="gray"
            ms="auto"
            aria-label={t("player:notes.delete")}
            title={t("player:notes.delete")}
            onClick={() => setAsking(true)}
          >
            <Icon name="trash" size={16} />
          </ActionIcon>
        )}
      </Group>
      {isAsking && (
        <Group gap="xs" mt={4}>
          <Text size="sm">{t("player:notes.sure")}</Text>
          <Button size="compact-sm" variant="default" autoFocus onClick={() => setAsking(false)}>
            {t("shell:cancel")}
          </Button>
          <Button size="compact-sm" color="red" variant="outline" onClick={() => void remove()}>
            {t("player:notes.deleteIt")}
          </Button>
        </Group>
      )}
      {error && <FailureLine error={error} />}
    </li>
  );
}

/** One's own, and any for who may send every command. The id of a person's session has the server after the person. */
export function mayDelete({ by }: Pick<NoteResource, "by">, commands: readonly string[], ownId: string): boolean {
  return seesAllCommands(commands) || by.id === ownId.split("@")[0];
}
