// Shows names of servers and keys like `GameText` shows names from the game: alone, or inside a sentence.
import { Fragment } from "react";
import { GameText, markInvisible } from "./game-text.tsx";

/** The maximum length of a name or a label. */
const NAME_MAX = 100;
/** Marks the placeholders; a character for private use, which no translation contains. */
const MARK = "\ue000";

export function NameText({ text, max = NAME_MAX }: { readonly text: string; readonly max?: number }) {
  return <GameText text={text} max={max} />;
}

/** `write` gets a placeholder for each name and returns the sentence. */
export function NamedSentence(props: {
  readonly names: readonly string[];
  readonly write: (...places: string[]) => string;
  readonly max?: number;
}) {
  const { names, write, max = NAME_MAX } = props;
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
