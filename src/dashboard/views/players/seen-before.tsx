// Those who fit a search and were on the server before, but are not now.
import { Button, Group, Stack } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import type { PlayerResource } from "../../../core/wire/players.ts";
import { FailureLine } from "../../parts/states.tsx";
import { GameText } from "../../parts/text/game-text.tsx";
import { Heading, Note } from "../../parts/text/plain-text.tsx";
import { PlayerName } from "../../parts/text/player-name.tsx";
import { Ago, NowProvider } from "../../parts/text/time.tsx";
import { useLedgerIsOff } from "../../state/ledger/use-ledger.ts";
import { type CallerSession, useServerSession } from "../../state/session/session.ts";
import { unwrap, useThrownError } from "../../state/session/use-api-error.ts";
import "./seen-before.css";

const PAGE_SIZE = 20;
const QUERY_MAX = 100;

/** Nothing for an operator who looks in, for those who may not read players, and without an archive. */
export function SeenBefore({ search }: { readonly search: string }) {
  const session = useServerSession();
  const isOff = useLedgerIsOff();
  const mayAsk = session.kind === "caller" && session.sections.includes("Players") && !isOff;
  if (!mayAsk || search === "") return null;
  return <Found api={session.api} search={search.slice(0, QUERY_MAX)} />;
}

function Found({ api, search }: { readonly api: CallerSession["api"]; readonly search: string }) {
  const { t } = useTranslation(["players", "table"]);
  const query = useInfiniteQuery({
    queryKey: ["seen-before", search],
    queryFn: ({ pageParam, signal }) => {
      const asked = { query: search, here: false, limit: PAGE_SIZE };
      return unwrap(api.listPlayers(pageParam === null ? asked : { ...asked, cursor: pageParam }, signal));
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next ?? undefined,
    networkMode: "always",
    refetchOnWindowFocus: false,
    retry: false,
  });
  const error = useThrownError(query.error);
  const players = query.data?.pages.flatMap(({ items }) => items);
  return (
    <Stack component="section" gap="xs" aria-label={t("players:before.title")}>
      <Heading order={2}>{t("players:before.title")}</Heading>
      {error && <FailureLine error={error} />}
      {players?.length === 0 && <Note>{t("players:before.none")}</Note>}
      {players && players.length > 0 && (
        <NowProvider>
          <ul className="plain-list framed">
            {players.map((player) => (
              <FoundPlayer key={player.id} player={player} />
            ))}
          </ul>
        </NowProvider>
      )}
      {query.hasNextPage && (
        <Group>
          <Button
            size="xs"
            variant="default"
            loading={query.isFetchingNextPage}
            onClick={() => void query.fetchNextPage()}
          >
            {t("players:before.more")}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

function FoundPlayer({ player: { id, names, last_seen_at } }: { readonly player: PlayerResource }) {
  const { t } = useTranslation("players");
  const [name = "", ...others] = names;
  return (
    <li className="seen-before">
      <PlayerName name={name} id={id} unknown={null} />
      <Note span>
        {others.length > 0 && t("before.also")}{" "}
        {others.map((other, index) => (
          <span key={other}>
            {index > 0 && ", "}
            <GameText text={other} />
          </span>
        ))}
      </Note>
      <Note span>
        {t("before.lastSeen")} <Ago at={last_seen_at} />
      </Note>
    </li>
  );
}
