// The commands that were aimed at a player, and by whom.
import { Button, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { AimedCommand } from "../../../core/wire/players.ts";
import { GameText } from "../../parts/text/game-text.tsx";
import { Heading, Note } from "../../parts/text/plain-text.tsx";
import { PlayerLink } from "../../parts/text/player-name.tsx";
import { Ago } from "../../parts/text/time.tsx";
import { parsePlayerRef } from "../../player-ref.ts";

const SHOWN_AT_ONCE = 5;
const COMMAND_MAX = 120;

export function AimedCommands({ commands }: { readonly commands: readonly AimedCommand[] }) {
  const { t } = useTranslation("player");
  const [isLong, setLong] = useState(false);
  return (
    <Stack component="section" gap="xs" aria-label={t("aimed.title")}>
      <Heading order={3} className="record-heading">
        {t("aimed.title")}
      </Heading>
      {commands.length === 0 && <Note>{t("aimed.none")}</Note>}
      <ul className="plain-list record-list">
        {commands.slice(0, isLong ? commands.length : SHOWN_AT_ONCE).map((command) => (
          <li key={command.event_id}>
            <GameText text={command.command} max={COMMAND_MAX} isCode />
            <Group gap={6} c="dimmed" fz="sm">
              <Sender {...command} /> <Ago at={command.at} />
            </Group>
          </li>
        ))}
      </ul>
      {commands.length > SHOWN_AT_ONCE && !isLong && (
        <Group>
          <Button size="xs" variant="subtle" onClick={() => setLong(true)}>
            {t("aimed.more", { n: commands.length - SHOWN_AT_ONCE })}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

/** Who sent it through Gatehouse, or the player who typed it in the game. */
function Sender({ by, sent_by }: AimedCommand) {
  const { t } = useTranslation("player");
  if (sent_by) {
    return (
      <Text span size="sm" fw={600} c="var(--mantine-color-text)" title={t("aimed.through")}>
        <GameText text={sent_by.name} />
      </Text>
    );
  }
  return by === null ? <Note span>{t("aimed.unknown")}</Note> : <PlayerLink player={parsePlayerRef(by)} />;
}
