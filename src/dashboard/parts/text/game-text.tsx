// Untrusted text from the game: shown unchanged, isolated from the text around it, and cut when it is long. Invisible
// characters are shown as their code point, so that two different names never look the same.
import { Box, Group, Popover, Text, UnstyledButton } from "@mantine/core";
import { createContext, Fragment, useContext, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { Icon } from "../icon.tsx";

const SHOWN_MAX = 48;
/** The copy button copies all of a longer text. */
const WHOLE_MAX = 20_000;
/** Control and format characters, and letters without a glyph. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]/u;
const JOINERS = new Set(["\u200c", "\u200d"]);
/** A joiner has a meaning after these: emoji sequences, and scripts whose letters join. */
const JOINS =
  /\ufe0f|[\p{Extended_Pictographic}\p{Emoji_Modifier}]|(?![\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}])[\p{L}\p{M}]/u;

export type TextPiece = { readonly text: string; readonly isInvisible: boolean };

/** Splits a text into visible pieces and the code points of invisible characters. */
export function splitInvisible(text: string): readonly TextPiece[] {
  const pieces: { text: string; isInvisible: boolean }[] = [];
  let before = "";
  for (const character of text) {
    const isInvisible = INVISIBLE.test(character) && !(JOINERS.has(character) && JOINS.test(before));
    const last = pieces.at(-1);
    if (isInvisible) pieces.push({ text: writeCodePoint(character), isInvisible });
    else if (last && !last.isInvisible) last.text += character;
    else pieces.push({ text: character, isInvisible });
    before = character;
  }
  return pieces;
}

/** Writes invisible characters as `[200B]`, for attributes and titles, which can only hold text. */
export function markInvisible(text: string): string {
  return splitInvisible(text)
    .map(({ text: piece, isInvisible }) => (isInvisible ? `[${piece}]` : piece))
    .join("");
}

/** A text as MarkedText shows it, for the name of a button that has it as its content too. */
export function writeAsShown(text: string): string {
  return splitInvisible(text)
    .map(({ text: piece }) => piece)
    .join("");
}

/** The first `max` characters, without splitting a surrogate pair, and whether the text was longer. */
export function cutText(text: string, max: number): { readonly text: string; readonly isCut: boolean } {
  // A character has at most two UTF-16 units.
  const characters = Array.from(text.slice(0, 2 * max + 2));
  const isCut = characters.length > max;
  return { text: isCut ? characters.slice(0, max).join("") : text, isCut };
}

function writeCodePoint(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
}

export function GameText(props: { readonly text: string; readonly max?: number; readonly isCode?: boolean }) {
  const { text, max = SHOWN_MAX, isCode = false } = props;
  const { text: start, isCut } = cutText(text, max);
  const isBrief = useContext(BriefContext);
  const className = isCode ? "game-text game-text-code" : "game-text";
  const shown = (
    <bdi className={className}>
      <MarkedText text={start} />
      {isCut && isBrief && "…"}
    </bdi>
  );
  if (!isCut || isBrief) return shown;
  return (
    <span className="game-text-cut">
      {shown}
      <WholeText text={text} className={className} />
    </span>
  );
}

/** A button that shows all of a text that was cut. */
export function WholeText({ text, className }: { readonly text: string; readonly className: string }) {
  const { t } = useTranslation("table");
  return (
    <Popover width={360} withArrow shadow="md" withinPortal trapFocus>
      <Popover.Target>
        <UnstyledButton className="game-text-more" aria-label={t("wholeText")} title={t("wholeText")}>
          …
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown aria-label={t("wholeText")}>
        <Group wrap="nowrap" align="flex-start" gap="xs">
          <Box
            className="game-text-whole"
            tabIndex={0}
            role="group"
            aria-label={t("wholeText")}
            // Escape closes this, and not the drawer around it.
            data-mantine-stop-propagation="true"
          >
            <bdi className={className}>
              <MarkedText text={cutText(text, WHOLE_MAX).text} />
            </bdi>
          </Box>
          <CopyButton value={text} />
        </Group>
      </Popover.Dropdown>
    </Popover>
  );
}

/** Text with invisible characters marked, neither cut nor isolated. */
export function MarkedText({ text }: { readonly text: string }) {
  return splitInvisible(text).map(({ text: piece, isInvisible }, index) =>
    isInvisible ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: pieces are identified by their position
      <span key={index} className="invisible-character" title={`U+${piece}`}>
        {piece}
      </span>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: as above
      <Fragment key={index}>{piece}</Fragment>
    ),
  );
}

export const BriefContext = createContext(false);

/** Returns whether the text was copied. */
export async function copyText(text: string): Promise<boolean> {
  try {
    // Undefined over plain HTTP, except on localhost, although its type says otherwise.
    const clipboard: Clipboard | undefined = navigator.clipboard;
    if (clipboard) {
      await clipboard.writeText(text);
      return true;
    }
  } catch {
    // Forbidden; document.execCommand may still be allowed.
  }
  return copyWithSelection(text);
}

function copyWithSelection(text: string): boolean {
  const focused = document.activeElement;
  const area = document.createElement("textarea");
  area.value = text;
  area.readOnly = true;
  area.style.position = "fixed";
  area.style.opacity = "0";
  // The text area must be next to the focused element: a dialog does not let the focus leave it.
  (focused?.parentElement ?? document.body).append(area);
  try {
    area.select();
    return document.execCommand("copy");
  } catch {
    return false;
  } finally {
    area.remove();
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  }
}

const FEEDBACK_MS = 1_500;
/** A failure is shown for longer, because it has to be read. */
const FAILURE_FEEDBACK_MS = 6_000;

/** `label` tells screen reader users what is copied. */
export function CopyButton({ value, label }: { readonly value: string; readonly label?: string }) {
  const { t } = useTranslation("shell");
  const [isCopied, setCopied] = useState<boolean>();
  const isBrief = useContext(BriefContext);
  const text = t(isCopied === undefined ? "copy" : isCopied ? "copied" : "notCopied");
  useEffect(() => {
    if (isCopied === undefined) return;
    const timer = setTimeout(() => setCopied(undefined), isCopied ? FEEDBACK_MS : FAILURE_FEEDBACK_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  if (isBrief) return null;
  // A plain button with a title, because tables have hundreds of them, and ActionIcon and Tooltip render slowly.
  return (
    <>
      <button
        type="button"
        className="copy-button"
        aria-label={label === undefined ? text : `${text}: ${label}`}
        title={text}
        onClick={() => void copyText(value).then(setCopied)}
      >
        <Icon name={isCopied === undefined ? "copy" : isCopied ? "check" : "warning"} size={14} />
      </button>
      {isCopied === false && (
        <Text component="span" size="xs" c="var(--mantine-color-error)" role="alert">
          {text}
        </Text>
      )}
    </>
  );
}

/** The maximum length of a name or a label. */
const NAMED_MAX = 100;
/** Marks the placeholders; a character for private use, which no translation contains. */
const MARK = "\ue000";

export function NameText({ text, max = NAMED_MAX }: { readonly text: string; readonly max?: number }) {
  return <GameText text={text} max={max} />;
}

/** `write` gets a placeholder for each name and returns the sentence. */
export function NamedSentence(props: {
  readonly names: readonly string[];
  readonly write: (...placeholders: string[]) => string;
  readonly max?: number;
}) {
  const { names, write, max = NAMED_MAX } = props;
  const sentence = write(...names.map((_, index) => `${MARK}${index}${MARK}`));
  return sentence.split(MARK).map((piece, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: pieces are identified by their position
    <Fragment key={index}>
      {index % 2 === 0 ? piece : <NameText text={names[Number(piece)] ?? ""} max={max} />}
    </Fragment>
  ));
}

/** Whether a user can type the name they see: no invisible characters, no special or repeated spaces. */
export function isTypeable(name: string): boolean {
  return markInvisible(name) === name && name.trim().split(/\s+/).join(" ") === name.trim();
}
