// A field for the id or the name of a player, with links to the players that fit.

import { Anchor, Button, Group, Text, TextInput } from "@mantine/core";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import type { EventResource } from "../../../core/wire/event.ts";
import type { ApiError } from "../../api/request.ts";
import { Icon } from "../../parts/icon.tsx";
import { FailureLine } from "../../parts/states.tsx";
import { type EventList, SEARCHED_EVENTS_MAX } from "../../state/ledger/event-pages.ts";
import { LedgerFeed } from "../../state/ledger/ledger-feed.ts";
import { useViewHref } from "../../state/route.ts";
import { useServerSession } from "../../state/session/session.ts";
import { useFormat } from "../../state/time/use-format.ts";
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
  const found = findPlayers(typed, [...known, ...older.filter(({ id }) => !known.some((one) => one.id === id))]);
  const [best] = found;
  return (
    <form
      className="toolbar-search"
      onSubmit={(event) => {
        event.preventDefault();
        if (best) location.hash = hrefOf(`activity/${best.id}`);
      }}
    >
      <TextInput
        type="search"
        aria-label={t("player.find")}
        placeholder={t("player.find")}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        leftSection={<Icon name="search" size={16} />}
        autoComplete="off"
        spellCheck={false}
        maxLength={100}
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

function LookFurther(props: { readonly search: PlayerSearch; readonly canLook: boolean; readonly onLook: () => void }) {
  const { t } = useTranslation("activity");
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
      {error && <FailureLine error={error} />}
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

export type PlayerSearch = {
  /** What was looked through; undefined before the first look. */
  readonly list: EventList | undefined;
  readonly error: ApiError | undefined;
  readonly isLooking: boolean;
  /** Looks further back for an event that fits. */
  readonly look: (fits: (event: EventResource) => boolean) => void;
};

/** `types` are those of the events that name players. */
export function usePlayerSearch(types: string): PlayerSearch {
  const { ledger, pace } = useServerSession();
  const feed = useMemo(
    () => new LedgerFeed(ledger, pace, { types }, undefined, SEARCHED_EVENTS_MAX),
    [ledger, pace, types],
  );
  const [state, setState] = useState<Omit<PlayerSearch, "look">>({
    list: undefined,
    error: undefined,
    isLooking: false,
  });

  async function look(fits: (event: EventResource) => boolean): Promise<void> {
    setState((last) => ({ ...last, isLooking: true }));
    let error = feed.list ? undefined : (await feed.poll()).error;
    if (!error && !feed.list?.events.some(fits)) error = await feed.loadOlder(fits);
    setState({ list: feed.list, error, isLooking: false });
  }

  return { ...state, look: (fits) => void look(fits) };
}
