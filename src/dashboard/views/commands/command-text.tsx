// The text of a command as this view shows it: all of it, with a mark for each character that cannot be seen.
import { Code } from "@mantine/core";
import { COMMAND_CHARACTERS_MAX } from "../../../core/command.ts";
import { GameText } from "../../parts/game-text.tsx";

export function CommandText(props: { readonly text: string; readonly isBlock?: boolean }) {
  const { text, isBlock = false } = props;
  return (
    <Code block={isBlock} className="untrusted command-text">
      {/* Never cut: whoever is about to send it, or to use it again, sees what it is. */}
      <GameText text={text} max={COMMAND_CHARACTERS_MAX} />
    </Code>
  );
}
