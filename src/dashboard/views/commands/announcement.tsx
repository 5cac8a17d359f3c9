// Announces the new status of commands to screen readers.
import { VisuallyHidden } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import type { CommandResource } from "../../../core/wire/command.ts";
import { markInvisible } from "../../parts/game-text.tsx";

/** Announces what has changed since the previous list; the first list is not announced. */
export function Announcement({ commands }: { readonly commands: readonly CommandResource[] }) {
  const { t } = useTranslation("commands");
  const known = useRef<ReadonlyMap<string, string> | undefined>(undefined);
  const [text, setText] = useState("");
  useEffect(() => {
    const before = known.current;
    known.current = new Map(commands.map(({ command_id: id, status }) => [id, status]));
    const changed = commands.filter(
      ({ command_id: id, status }) => before?.has(id) && before.get(id) !== status,
    );
    if (changed.length === 0) return;
    setText(
      changed
        .map(({ command, status }) =>
          t("change", { command: markInvisible(command), status: t(`status.${status}`) }),
        )
        .join("; "),
    );
  }, [commands, t]);
  return <VisuallyHidden role="status">{text}</VisuallyHidden>;
}
