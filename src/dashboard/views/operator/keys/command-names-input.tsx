// An input for names of commands: each name that was typed, pasted or selected is a badge with a remove button.
import { Badge, Button, CloseButton, Group, Stack, TextInput } from "@mantine/core";
import { type KeyboardEvent, type ReactNode, useId } from "react";
import { useTranslation } from "react-i18next";
import { markInvisible, NameText } from "../../../parts/text/game-text.tsx";
import { KNOWN_COMMANDS } from "../../commands/known-commands.ts";

export function CommandNamesInput(props: {
  readonly names: readonly string[];
  readonly onChange: (names: readonly string[]) => void;
  /** The text in the input that is not a badge yet. A form adds it with `joinNames` when it is submitted. */
  readonly typed: string;
  readonly onType: (typed: string) => void;
  readonly error: ReactNode;
}) {
  const { t } = useTranslation("operatorKeys");
  const { names, onChange, typed, onType } = props;
  const listId = useId();

  function add() {
    onChange(joinNames(names, typed));
    onType("");
  }
  function handleKeyDown(event: KeyboardEvent) {
    if (event.nativeEvent.isComposing || (event.key !== "Enter" && event.key !== ",")) return;
    event.preventDefault();
    add();
  }

  return (
    <Stack gap="xs">
      <Group gap="xs" align="flex-end" wrap="nowrap">
        <TextInput
          label={t("form.commandNames")}
          description={t("form.commandNamesHint")}
          placeholder=":h"
          value={typed}
          onChange={(event) => onType(event.currentTarget.value)}
          onKeyDown={handleKeyDown}
          error={props.error}
          list={listId}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          flex={1}
          inputContainer={(input) => (
            <Group gap="xs" wrap="nowrap">
              {input}
              <Button variant="light" onClick={add}>
                {t("form.addName")}
              </Button>
            </Group>
          )}
          styles={{ wrapper: { flex: 1, margin: "0.25rem 0" } }}
        />
        <datalist id={listId}>
          {KNOWN_COMMANDS.map((name) => (
            <option key={name} value={`:${name}`} />
          ))}
        </datalist>
      </Group>
      {names.length > 0 && (
        <Group gap={6} component="ul" className="plain-list" aria-label={t("form.commandNames")}>
          {names.map((name) => (
            <li key={name}>
              <Badge
                size="lg"
                rightSection={
                  <CloseButton
                    size="xs"
                    aria-label={t("form.removeName", { name: markInvisible(name) })}
                    onClick={() => onChange(names.filter((other) => other !== name))}
                  />
                }
              >
                <NameText text={name} />
              </Badge>
            </li>
          ))}
        </Group>
      )}
    </Stack>
  );
}

/** The names and those in the typed text, each once. */
export function joinNames(names: readonly string[], typed: string): readonly string[] {
  const added = typed.split(/[\s,]+/).filter((name) => name !== "");
  const known = new Set(names.map((name) => name.toLowerCase()));
  const fresh = added.map(withColon).filter((name) => !known.has(name.toLowerCase()));
  return [...names, ...new Set(fresh)];
}

function withColon(name: string): string {
  return name.startsWith(":") || name === "*" ? name : `:${name}`;
}
