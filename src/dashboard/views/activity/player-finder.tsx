// A field for the id or the name of a player, with links to the players that fit.
import { Anchor, Group, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Icon } from "../../parts/icon.tsx";
import { useViewHref } from "../../state/route.ts";
import { LinkedPlayer } from "./event-line.tsx";
import { findPlayers, type KnownPlayer } from "./find-player.ts";

export function PlayerFinder({ known }: { readonly known: readonly KnownPlayer[] }) {
  const { t } = useTranslation("activity");
  const hrefOf = useViewHref();
  const [typed, setTyped] = useState("");
  const found = findPlayers(typed, known);
  const [best] = found;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (best) location.hash = hrefOf(`activity/${best.id}`);
      }}
    >
      <TextInput
        type="search"
        label={t("player.find")}
        description={t("player.findHint")}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        leftSection={<Icon name="search" size={16} />}
        autoComplete="off"
        spellCheck={false}
        maxLength={100}
        className="toolbar-search"
      />
      {typed.trim() !== "" && (
        <Group gap="sm" mt={6} role="status">
          {found.map((player) => (
            <LinkedPlayer key={player.id} player={player} />
          ))}
          {!best && (
            <Text size="sm" c="dimmed">
              {t("player.notFound")}
            </Text>
          )}
        </Group>
      )}
    </form>
  );
}

export function AllActivityLink() {
  const { t } = useTranslation("activity");
  const hrefOf = useViewHref();
  return (
    <Anchor href={hrefOf("activity")} size="sm">
      <Group gap={4} wrap="nowrap" component="span">
        <Icon name="back" size={16} />
        {t("player.back")}
      </Group>
    </Anchor>
  );
}
