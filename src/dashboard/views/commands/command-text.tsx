// Shows the whole text of a command, with invisible characters marked.
import { Code } from "@mantine/core";
import { COMMAND_CHARACTERS_MAX } from "../../../core/command.ts";
import { GameText } from "../../parts/game-text.tsx";

export function CommandText(props: { readonly text: string; readonly isBlock?: boolean }) {
  const { text, isBlock = false } = props;
  return (
    <Code block={isBlock} className="untrusted command-text">
      {/* Never cut, because the user must see everything that is sent or used again. */}
      <GameText text={text} max={COMMAND_CHARACTERS_MAX} />
    </Code>
  );
}
