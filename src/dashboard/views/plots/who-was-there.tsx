// Who was on the server at a moment of the past.
import { ActionIcon, Alert, Anchor, Button, Group, Loader, Paper, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Icon } from "../../parts/icon.tsx";
import { FailureLine } from "../../parts/states.tsx";
import { Heading, Note } from "../../parts/text/plain-text.tsx";
import { PlayerLink } from "../../parts/text/player-name.tsx";
import { parsePlayerRef } from "../../player-ref.ts";
import { useViewHref } from "../../state/route.ts";
import { useServerSession } from "../../state/session/session.ts";
import { unwrap, useThrownError } from "../../state/session/use-api-error.ts";
import { useFormat } from "../../state/time/use-format.ts";
import { writeMomentRoute } from "../activity/moment-route.ts";

const SHOWN_AT_ONCE = 60;

export function WhoWasThere({ at, onClose }: { readonly at: number; readonly onClose: () => void }) {
  const { t } = useTranslation(["history", "shell"]);
  const format = useFormat();
  const hrefOf = useViewHref();
  const { api } = useServerSession();
  const { data, error } = useQuery({
    queryKey: ["present", at],
    queryFn: ({ signal }) => unwrap(api.readPresent(at, signal)),
    networkMode: "always",
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  const problem = useThrownError(error);
  const frame = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each moment
  useEffect(() => {
    frame.current?.focus({ preventScroll: true });
    frame.current?.scrollIntoView({ block: "nearest" });
  }, [at, data]);
  return (
    <Paper
      component="section"
      withBorder
      p="md"
      ref={frame}
      tabIndex={-1}
      className="view"
      aria-label={t("history:present.title", { time: format.dateTime(at) })}
    >
      <Stack gap="xs">
        <Group justify="space-between" wrap="nowrap" align="flex-start">
          <Heading>{t("history:present.title", { time: format.dateTime(at) })}</Heading>
          <ActionIcon variant="subtle" color="gray" aria-label={t("shell:close")} onClick={onClose}>
            <Icon name="close" size={18} />
          </ActionIcon>
        </Group>
        {problem && <FailureLine error={problem} />}
        {!data && !problem && <Loader size="sm" aria-hidden />}
        {data && !data.known && (
          <Alert color="orange" p="xs" icon={<Icon name="warning" />}>
            {t("history:present.unknown")}
          </Alert>
        )}
        {data && <Present players={data.items.map(({ player }) => player)} isKnown={data.known} />}
        <Anchor size="sm" href={hrefOf(writeMomentRoute(at))}>
          {t("history:present.events")}
        </Anchor>
      </Stack>
    </Paper>
  );
}

/** `players` are written as the game writes them, `Name:id`. */
function Present({ players, isKnown }: { readonly players: readonly string[]; readonly isKnown: boolean }) {
  const { t } = useTranslation("history");
  const [isLong, setLong] = useState(false);
  const named = useMemo(() => players.map(parsePlayerRef).sort((a, b) => a.name.localeCompare(b.name)), [players]);
  if (named.length === 0) return <Note>{t(isKnown ? "present.nobody" : "present.nobodyKnown")}</Note>;
  return (
    <>
      <Note>{t("present.count", { count: named.length })}</Note>
      <ul className="plain-list present-names">
        {named.slice(0, isLong ? named.length : SHOWN_AT_ONCE).map((player) => (
          <li key={player.id ?? player.name}>
            <PlayerLink player={player} />
          </li>
        ))}
      </ul>
      {named.length > SHOWN_AT_ONCE && !isLong && (
        <Group>
          <Button size="xs" variant="subtle" onClick={() => setLong(true)}>
            {t("sessions.more", { n: named.length - SHOWN_AT_ONCE })}
          </Button>
        </Group>
      )}
    </>
  );
}
