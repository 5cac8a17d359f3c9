// A field for the id or the name of a player, with links to the players that fit.
import { Anchor, Button, Group, Text, TextInput } from "@mantine/core";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { Icon } from "../../parts/icon.tsx";
import { useViewHref } from "../../state/route.ts";
import { useServerSession } from "../../state/session.ts";
import { useFormat } from "../../state/use-format.ts";
import { type PlayerSearch, usePlayerSearch } from "../../state/use-player-search.ts";
import { listPlayers } from "./describe-event.ts";
import { listPlayerGroups, writeTypes } from "./event-groups.ts";
import { LinkedPlayer } from "./event-line.tsx";
import { findPlayers, type KnownPlayer, listKnownPlayers } from "./find-player.ts";

/** `known` are the players that the page shows. */
export function PlayerFinder({ known }: { readonly known: readonly KnownPlayer[] }) {
  const { t } = useTranslation("activity");
  const hrefOf = useViewHref();
  const [typed, setTyped] = useState("");
  const { sections } = useServerSession();
  const types = writeTypes(listPlayerGroups(sections));
  const search = usePlayerSearch(types ?? "");
  const older = useMemo(() => listKnownPlayers(search.list?.events ?? []), [search.list]);
  const found = findPlayers(typed, [
    ...known,
    ...older.filter(({ id }) => !known.some((one) => one.id === id)),
  ]);
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
            <LinkedPlayer key={player.id} player={player} href={hrefOf(`activity/${player.id}`)} />
          ))}
          {!best && (
            <LookFurther
              search={search}
              canLook={types !== undefined}
              onLook={() => search.look((event) => findPlayers(typed, listPlayers(event)).length > 0)}
            />
          )}
        </Group>
      )}
    </form>
  );
}

function LookFurther(props: {
  readonly search: PlayerSearch;
  readonly canLook: boolean;
  readonly onLook: () => void;
}) {
  const { t } = useTranslation(["activity", "status"]);
  const format = useFormat();
  const { list, error, isLooking } = props.search;
  const isDone = !props.canLook || list?.hasOlder === false;
  const since = list?.lookedBackTo ?? list?.events.at(-1)?.seen_at;
  return (
    <>
      <Text size="sm" c="dimmed">
        {isDone ? t("player.nowhere") : t("player.notFound")}{" "}
        {!isDone && since !== undefined && t("player.lookedBack", { time: format.dateTime(since) })}
      </Text>
      {error && (
        <Text size="sm" c="red" className="untrusted">
          {error.code === 0
            ? t("status:title.unreachable")
            : t("status:text.failed", { message: error.message, code: error.code })}
        </Text>
      )}
      {!isDone && (
        <Button size="compact-sm" variant="default" loading={isLooking} onClick={props.onLook}>
          {t("lookFurther")}
        </Button>
      )}
    </>
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
