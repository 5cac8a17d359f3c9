// Names that somebody has given to servers and keys, shown as `GameText` shows those from the game: alone, and inside a
// sentence.
import { Fragment } from "react";
import { GameText, writeUnseen } from "./game-text.tsx";

/** As long as a name or a label may be. */
const NAME_MAX = 100;
const PLACE = "\ue000";

export function NameText({ text, max = NAME_MAX }: { readonly text: string; readonly max?: number }) {
  return <GameText text={text} max={max} />;
}

/** `write` gets a placeholder for each name, and returns the sentence. */
export function NamedSentence(props: {
  readonly names: readonly string[];
  readonly write: (...places: string[]) => string;
  readonly max?: number;
}) {
  const { names, write, max = NAME_MAX } = props;
  const sentence = write(...names.map((_, index) => `${PLACE}${index}${PLACE}`));
  return sentence.split(PLACE).map((piece, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no name but their place
    <Fragment key={index}>
      {index % 2 === 0 ? piece : <NameText text={names[Number(piece)] ?? ""} max={max} />}
    </Fragment>
  ));
}

/** Whether somebody who sees the name can type it: each character is seen, and no space is a special one or doubled. */
export function isTypeable(name: string): boolean {
  return writeUnseen(name) === name && name.trim().split(/\s+/).join(" ") === name.trim();
}
