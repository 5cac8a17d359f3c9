// The command line: suggestions are shown below, Tab and the arrow keys go through them, Enter takes one or sends. Without
// suggestions the arrow keys recall earlier lines.
import { Box, Button, Group, Paper, Text, TextInput, VisuallyHidden } from "@mantine/core";
import { type FormEvent, type KeyboardEvent, useId, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { COMMAND_CHARACTERS_MAX, parseCommand } from "../../../core/commands/command.ts";
import { isRefusal } from "../../../core/errors.ts";
import { Icon } from "../../parts/icon.tsx";
import { MarkedText } from "../../parts/text/game-text.tsx";
import { CandidateText } from "./candidate-text.tsx";
import { type Suggestion, suggest } from "./suggest.ts";
import type { Candidate } from "./targets.ts";

/** With fewer characters left, their number is shown. */
const CHARACTERS_LEFT_SHOWN = 200;
/** More suggestions are counted, not listed. */
const SUGGESTIONS_SHOWN_MAX = 200;

export function CommandLine(props: {
  readonly value: string;
  readonly onChange: (line: string) => void;
  readonly onSend: (text: string) => void;
  /** Oldest first. */
  readonly history: readonly string[];
  readonly players: readonly Candidate[];
  /** The names of the commands that the key may send, or "*". */
  readonly allowed: readonly string[];
  /** Why the line was not sent. */
  readonly problem: string | undefined;
  readonly note: string | undefined;
}) {
  const { t } = useTranslation("commands");
  const { value, history } = props;
  const listId = useId();
  const input = useRef<HTMLInputElement>(null);
  const [isListing, setListing] = useState(false);
  /** The line of the active suggestion. Not its index, because players join and leave while the list is open. */
  const [activeLine, setActiveLine] = useState<string>();
  /** What the list completes. Tab puts one candidate after another into the line, and the list stays as it is. */
  const [typed, setTyped] = useState(value);
  /** Counted from the newest line; -1 is the draft. */
  const [recalled, setRecalled] = useState(-1);
  const draft = useRef("");
  const found = isListing ? suggest(typed, props.players, props.allowed) : [];
  const suggestions = found.slice(0, SUGGESTIONS_SHOWN_MAX);
  const activeIndex = suggestions.findIndex(({ line }) => line === activeLine);
  const isOpen = suggestions.length > 0;
  const error = useCommandError(value) ?? props.problem;
  const left = COMMAND_CHARACTERS_MAX - Array.from(value.trim()).length;

  function changeLine(line: string, shouldList: boolean) {
    props.onChange(line);
    setTyped(line);
    setListing(shouldList);
    setActiveLine(undefined);
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

  /** The suggestion after the active one, or before it; after the last comes the first. */
  function moveActive(step: 1 | -1): Suggestion | undefined {
    const count = suggestions.length;
    const next = activeIndex === -1 && step === -1 ? count - 1 : (activeIndex + step + count) % count;
    setActiveLine(suggestions[next]?.line);
    return suggestions[next];
  }

  function handleKeyDown(event: KeyboardEvent<HTMLInputElement>) {
    if (event.nativeEvent.isComposing) return;
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      if (isOpen) moveActive(step);
      else recall(step === 1 ? -1 : 1);
      return;
    }
    if (event.key === "Escape" && isOpen) return setListing(false);
    const active = suggestions[activeIndex];
    if (event.key === "Enter" && active) {
      event.preventDefault();
      return accept(active);
    }
    if (event.key === "Tab" && isOpen) complete(event);
  }

  /** Tab takes the only candidate, and goes through several. */
  function complete(event: KeyboardEvent<HTMLInputElement>) {
    const [only, ...others] = suggestions;
    // Tab completes only a word that was begun; otherwise it moves the focus, so that the keyboard user is not trapped.
    const isBegun = activeIndex >= 0 || (/\S$/.test(typed) && !event.shiftKey);
    if (!only || !isBegun || (others.length === 0 && only.line.trim() === value.trim())) return;
    event.preventDefault();
    if (others.length === 0) return accept(only);
    const next = moveActive(event.shiftKey ? -1 : 1);
    // Without the space at the end, so that a comma and another name can follow.
    if (next) props.onChange(next.line.trimEnd());
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
              error: { marginTop: "0.35rem" },
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
              {found.length > suggestions.length && (
                <Text size="sm" c="dimmed" p="xs" role="presentation">
                  {t("moreSuggestions", { count: found.length - suggestions.length })}
                </Text>
              )}
            </Paper>
          )}
          <VisuallyHidden role="status">{isOpen && t("found", { count: found.length })}</VisuallyHidden>
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
      {suggestion.kind === "player" ? (
        <CandidateText player={suggestion.player} />
      ) : (
        <>
          <bdi className="untrusted">
            <MarkedText text={suggestion.label} />
          </bdi>
          <Text span size="sm" c="dimmed">
            {suggestion.kind === "command" && suggestion.command && t(`word.${suggestion.command}`)}
            {suggestion.kind === "everybody" && t("everybody", { count: suggestion.count })}
          </Text>
        </>
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
