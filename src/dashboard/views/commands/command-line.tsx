// The line in which commands are typed: history on the arrow keys, completion below, and Enter sends.
import { Box, Button, Group, Paper, Text, TextInput } from "@mantine/core";
import { type FormEvent, type KeyboardEvent, useId, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { COMMAND_CHARACTERS_MAX, parseCommand } from "../../../core/command.ts";
import { isRefusal } from "../../../core/errors.ts";
import { MarkedText } from "../../parts/game-text.tsx";
import { Icon } from "../../parts/icon.tsx";
import type { PlayerRef } from "../../player-ref.ts";
import { type Suggestion, suggest } from "../command-words.ts";

/** From here on, the reader is told how many characters are left. */
const SCARCE_CHARACTERS = 200;

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
  const [active, setActive] = useState(-1);
  /** Counted from the newest line; -1 is what was being typed. */
  const [recalled, setRecalled] = useState(-1);
  const draft = useRef("");
  const suggestions = isListing ? suggest(value, props.players) : [];
  const isOpen = suggestions.length > 0;
  const fault = useFault(value);
  const left = COMMAND_CHARACTERS_MAX - Array.from(value.trim()).length;

  function change(line: string, listing: boolean) {
    props.onChange(line);
    setListing(listing);
    setActive(-1);
  }

  function take(suggestion: Suggestion) {
    change(suggestion.line, true);
    input.current?.focus();
  }

  function recall(step: 1 | -1) {
    const next = Math.min(Math.max(recalled + step, -1), history.length - 1);
    if (next === recalled) return;
    if (recalled === -1) draft.current = value;
    setRecalled(next);
    change(next === -1 ? draft.current : (history.at(-1 - next) ?? ""), false);
  }

  function press(event: KeyboardEvent<HTMLInputElement>) {
    if (event.nativeEvent.isComposing) return;
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      if (!isOpen) return recall(step === 1 ? -1 : 1);
      const count = suggestions.length;
      return setActive((old) => (old === -1 && step === -1 ? count - 1 : (old + step + count) % count));
    }
    if (event.key === "Escape" && isOpen) return setListing(false);
    const chosen = suggestions[active];
    if (event.key === "Enter" && chosen) {
      event.preventDefault();
      return take(chosen);
    }
    // Tab goes on to the next control unless a word has been begun: nobody is trapped, and no target is guessed.
    const completed = chosen ?? (/\S$/.test(value) ? suggestions[0] : undefined);
    if (event.key === "Tab" && !event.shiftKey && completed && completed.line.trim() !== value.trim()) {
      event.preventDefault();
      take(completed);
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
            error={fault}
            onChange={(event) => {
              setRecalled(-1);
              change(event.currentTarget.value, true);
            }}
            onKeyDown={press}
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
            aria-activedescendant={isOpen && active >= 0 ? `${listId}-${active}` : undefined}
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
                  isActive={index === active}
                  onTake={() => take(suggestion)}
                />
              ))}
            </Paper>
          )}
          {fault === undefined && left < SCARCE_CHARACTERS && (
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
  readonly onTake: () => void;
}) {
  const { t } = useTranslation("commands");
  const { suggestion, isActive } = props;
  const note = suggestion.word ? t(`word.${suggestion.word}`) : suggestion.note;
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the line; aria-activedescendant points here
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the line
    <div
      id={props.id}
      role="option"
      aria-selected={isActive}
      className="suggestion"
      // Keeps the focus in the line.
      onMouseDown={(event) => event.preventDefault()}
      onClick={props.onTake}
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

function useFault(line: string): string | undefined {
  const { t } = useTranslation("commands");
  if (line.trim() === "") return undefined;
  const length = Array.from(line.trim()).length;
  if (length > COMMAND_CHARACTERS_MAX) return t("tooLong", { n: COMMAND_CHARACTERS_MAX, length });
  return isRefusal(parseCommand({ command: line })) ? t("unsendable") : undefined;
}
