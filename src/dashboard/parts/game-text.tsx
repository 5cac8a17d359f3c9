// Text that somebody in the game has chosen: shown as it is, kept apart from the text around it, and cut when it is long.
// Characters that cannot be seen are shown as their number, so that no two different names look the same.
import { Box, Group, Popover, UnstyledButton } from "@mantine/core";
import { Fragment } from "react";
import { useTranslation } from "react-i18next";
import { CopyButton } from "./copy-button.tsx";

const SHOWN_MAX = 48;
/** Nobody reads more; the copy button gives all of it. */
const WHOLE_MAX = 20_000;
/** Control and format characters, and letters without a shape. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]/u;
const JOINERS = new Set(["\u200c", "\u200d"]);
/** After these a joiner has a meaning: emoji that belong together, and scripts whose letters join. */
const JOINS =
  /\ufe0f|[\p{Extended_Pictographic}\p{Emoji_Modifier}]|(?![\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}])[\p{L}\p{M}]/u;

export type TextPiece = { readonly text: string; readonly isUnseen: boolean };

/** Splits a text into what can be seen and the numbers of what cannot. */
export function splitUnseen(text: string): readonly TextPiece[] {
  const pieces: { text: string; isUnseen: boolean }[] = [];
  let before = "";
  for (const character of text) {
    const isUnseen = UNSEEN.test(character) && !(JOINERS.has(character) && JOINS.test(before));
    const last = pieces.at(-1);
    if (isUnseen) pieces.push({ text: hexOf(character), isUnseen });
    else if (last && !last.isUnseen) last.text += character;
    else pieces.push({ text: character, isUnseen });
    before = character;
  }
  return pieces;
}

/** For titles, which hold nothing but text. */
export function writeUnseen(text: string): string {
  return splitUnseen(text)
    .map(({ text: piece, isUnseen }) => (isUnseen ? `[${piece}]` : piece))
    .join("");
}

/** The first characters, none of them torn in two, and whether that is not all. */
export function cutText(text: string, max: number): { readonly text: string; readonly isCut: boolean } {
  // Two units a character at most.
  const characters = Array.from(text.slice(0, 2 * max + 2));
  const isCut = characters.length > max;
  return { text: isCut ? characters.slice(0, max).join("") : text, isCut };
}

function hexOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
}

export function GameText(props: { readonly text: string; readonly max?: number; readonly isCode?: boolean }) {
  const { t } = useTranslation("table");
  const { text, max = SHOWN_MAX, isCode = false } = props;
  const shown = cutText(text, max);
  const className = isCode ? "game-text game-text-code" : "game-text";
  if (!shown.isCut) {
    return (
      <bdi className={className}>
        <MarkedText text={text} />
      </bdi>
    );
  }
  return (
    <span className="game-text-cut">
      <bdi className={className}>
        <MarkedText text={shown.text} />
      </bdi>
      <Popover width={360} withArrow shadow="md" withinPortal trapFocus>
        <Popover.Target>
          <UnstyledButton className="game-text-more" aria-label={t("wholeText")} title={t("wholeText")}>
            …
          </UnstyledButton>
        </Popover.Target>
        <Popover.Dropdown aria-label={t("wholeText")}>
          <Group wrap="nowrap" align="flex-start" gap="xs">
            <Box className="game-text-whole" tabIndex={0} role="group" aria-label={t("wholeText")}>
              <bdi className={className}>
                <MarkedText text={cutText(text, WHOLE_MAX).text} />
              </bdi>
            </Box>
            <CopyButton value={text} />
          </Group>
        </Popover.Dropdown>
      </Popover>
    </span>
  );
}

/** The same marks, for a place with room for one line only. */
export function MarkedText({ text }: { readonly text: string }) {
  return splitUnseen(text).map(({ text: piece, isUnseen }, index) =>
    isUnseen ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no name but their place
      <span key={index} className="unseen" title={`U+${piece}`}>
        {piece}
      </span>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: as above
      <Fragment key={index}>{piece}</Fragment>
    ),
  );
}
