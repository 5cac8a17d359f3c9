// The command line: the arrow keys recall earlier lines, suggestions are shown below, and Enter sends.
import { Box, Button, Group, Paper, Text, TextInput } from "@mantine/core";
import { type FormEvent, type KeyboardEvent, useId, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { COMMAND_CHARACTERS_MAX, parseCommand } from "../../../core/command.ts";
import { isRefusal } from "../../../core/errors.ts";
import { MarkedText } from "../../parts/game-text.tsx";
import { Icon } from "../../parts/icon.tsx";
import type { PlayerRef } from "../../player-ref.ts";
import { type Suggestion, suggest } from "../known-commands.ts";

/** With fewer characters left, their number is shown. */
const CHARACTERS_LEFT_SHOWN = 200;

export function CommandLine(props: {
  readonly value: string;
  readonly onChange: (line: string) => void;
  readonly onSend: (text: string) => void;
  /** Oldest first. */
  readonly history: readonly string[];
  readonly players: readonly PlayerRef[];
  readonly note: string | undefined;
}) {
  const { t } = useTranslation("commands");
  const { value, history } = props;
  const listId = useId();
  const input = useRef<HTMLInputElement>(null);
  const [isListing, setListing] = useState(false);
  const [activeIndex, setActiveIndex] = useState(-1);
  /** Counted from the newest line; -1 is the draft. */
  const [recalled, setRecalled] = useState(-1);
  const draft = useRef("");
  const suggestions = isListing ? suggest(value, props.players) : [];
  const isOpen = suggestions.length > 0;
  const error = useCommandError(value);
  const left = COMMAND_CHARACTERS_MAX - Array.from(value.trim()).length;

  function changeLine(line: string, shouldList: boolean) {
    props.onChange(line);
    setListing(shouldList);
    setActiveIndex(-1);
  }

  function accept(suggestion: Suggestion) {
    changeLine(suggestion.line, true);
    input.current?.focus();
  }

  function recall(step: 1 | -1) {
    const next = Math.min(Math.max(recalled + step, -1), history.length - 1);
    if (next === recalled) return;
    if (recalled === -1) draft.current = value;
    setRecalled(next);
    changeLine(next === -1 ? draft.current : (history.at(-1 - next) ?? ""), false);
  }

  function handleKeyDown(event: KeyboardEvent<HTMLInputElement>) {
    if (event.nativeEvent.isComposing) return;
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      if (!isOpen) return recall(step === 1 ? -1 : 1);
      const count = suggestions.length;
      return setActiveIndex((old) => (old === -1 && step === -1 ? count - 1 : (old + step + count) % count));
    }
    if (event.key === "Escape" && isOpen) return setListing(false);
    const active = suggestions[activeIndex];
    if (event.key === "Enter" && active) {
      event.preventDefault();
      return accept(active);
    }
    // Tab completes only a word that was begun; otherwise it moves the focus, so that the keyboard user is not trapped.
    const completed = active ?? (/\S$/.test(value) ? suggestions[0] : undefined);
    if (event.key === "Tab" && !event.shiftKey && completed && completed.line.trim() !== value.trim()) {
      event.preventDefault();
      accept(completed);
    }
  }

  function submit(event: FormEvent) {
    event.preventDefault();
    const parsed = parseCommand({ command: value });
    if (isRefusal(parsed)) return input.current?.focus();
    setRecalled(-1);
    setListing(false);
    props.onSend(parsed.text);
    input.current?.focus();
  }

  return (
    <form onSubmit={submit} noValidate>
      <Group align="flex-start" gap="sm" wrap="nowrap">
        <Box pos="relative" flex={1} miw={0}>
          <TextInput
            ref={input}
            label={t("field")}
            description={
              <>
                <span className="for-keyboards">{t("hint")}</span> {props.note}
              </>
            }
            placeholder={t("placeholder")}
            value={value}
            error={error}
            onChange={(event) => {
              setRecalled(-1);
              changeLine(event.currentTarget.value, true);
            }}
            onKeyDown={handleKeyDown}
            onBlur={() => setListing(false)}
            autoComplete="off"
            autoCapitalize="off"
            autoCorrect="off"
            spellCheck={false}
            enterKeyHint="send"
            role="combobox"
            aria-autocomplete="list"
            aria-expanded={isOpen}
            aria-controls={isOpen ? listId : undefined}
            aria-activedescendant={isOpen && activeIndex >= 0 ? `${listId}-${activeIndex}` : undefined}
            styles={{
              input: { fontFamily: "var(--mantine-font-family-monospace)" },
              wrapper: { margin: "0.25rem 0" },
            }}
            inputWrapperOrder={["label", "input", "error", "description"]}
            inputContainer={(children) => (
              <Group gap="xs">
                <Box flex="1 1 14rem" miw={0}>
                  {children}
                </Box>
                <Button type="submit" flex="0 1 auto" leftSection={<Icon name="commands" size={16} />}>
                  {t("send")}
                </Button>
              </Group>
            )}
          />
          {isOpen && (
            <Paper
              id={listId}
              role="listbox"
              aria-label={t("suggestions")}
              withBorder
              shadow="md"
              className="suggestions"
            >
              {suggestions.map((suggestion, index) => (
                <SuggestionRow
                  key={suggestion.line}
                  id={`${listId}-${index}`}
                  suggestion={suggestion}
                  isActive={index === activeIndex}
                  onAccept={() => accept(suggestion)}
                />
              ))}
            </Paper>
          )}
          {error === undefined && left < CHARACTERS_LEFT_SHOWN && (
            <Text size="xs" c="dimmed" className="numbers">
              {t("left", { count: left })}
            </Text>
          )}
        </Box>
      </Group>
    </form>
  );
}

function SuggestionRow(props: {
  readonly id: string;
  readonly suggestion: Suggestion;
  readonly isActive: boolean;
  readonly onAccept: () => void;
}) {
  const { t } = useTranslation("commands");
  const { suggestion, isActive } = props;
  const note = suggestion.command ? t(`word.${suggestion.command}`) : suggestion.playerId;
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the input, and aria-activedescendant points here
    // biome-ignore lint/a11y/useKeyWithClickEvents: the command line handles the keys
    <div
      id={props.id}
      role="option"
      aria-selected={isActive}
      className="suggestion"
      // Keeps the focus in the input.
      onMouseDown={(event) => event.preventDefault()}
      onClick={props.onAccept}
      ref={(row) => {
        if (isActive) row?.scrollIntoView({ block: "nearest" });
      }}
    >
      <bdi className="untrusted">
        <MarkedText text={suggestion.label} />
      </bdi>
      {note !== undefined && (
        <Text span size="sm" c="dimmed">
          {note}
        </Text>
      )}
    </div>
  );
}

function useCommandError(line: string): string | undefined {
  const { t } = useTranslation("commands");
  if (line.trim() === "") return undefined;
  const length = Array.from(line.trim()).length;
  if (length > COMMAND_CHARACTERS_MAX) return t("tooLong", { n: COMMAND_CHARACTERS_MAX, length });
  return isRefusal(parseCommand({ command: line })) ? t("unsendable") : undefined;
}
