// The markers as a list, for keyboard and screen reader users, and what is known about one of them.
import { Button, Text, TextInput, UnstyledButton, useComputedColorScheme } from "@mantine/core";
import { memo, useCallback, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { Icon } from "../../parts/icon.tsx";
import { Fact, Note } from "../../parts/text/plain-text.tsx";
import { OpenPlayerIcon, PlayerLink } from "../../parts/text/player-name.tsx";
import { TeamDot, TeamLabel, useTeamName, useTeamSearchText } from "../../parts/text/team.tsx";
import type { PlayerRef } from "../../player-ref.ts";
import { useFormat } from "../../state/time/use-format.ts";
import { teamColour } from "../../team-colours.ts";
import type { CallMarker, KillMarker, Marker, PlayerMarker } from "./markers.ts";

type ListProps = {
  readonly markers: readonly Marker[];
  readonly followed: string | undefined;
  readonly onFollow: (key: string) => void;
  /** Called with the marker that has the focus or the pointer in the list. */
  readonly onHighlight: (key: string | undefined) => void;
  /** The keys of the players who are picked for a command. */
  readonly picked: ReadonlySet<string>;
  /** Undefined for who may send no commands. */
  readonly onPick: ((keys: readonly string[]) => void) | undefined;
};

export const MarkerList = memo(function MarkerList(props: ListProps) {
  const { markers, followed, onFollow, onHighlight, picked, onPick } = props;
  const { t } = useTranslation("map");
  const nameOf = useMarkerName();
  const searchTextOf = useTeamSearchText();
  const [search, setSearch] = useState("");
  const found = useMemo(() => {
    const wanted = search.trim().toLocaleLowerCase();
    const list = markers.map((marker) => ({ marker, name: nameOf(marker) }));
    const matching = list.filter(({ marker, name }) => {
      return searchTextOfMarker(marker, name, searchTextOf(marker.team)).includes(wanted);
    });
    // Who waits for a moderator comes first.
    return matching.sort(
      (a, b) =>
        Number(isCalling(b.marker)) - Number(isCalling(a.marker)) ||
        a.name.localeCompare(b.name, undefined, { numeric: true }),
    );
  }, [markers, search, nameOf, searchTextOf]);
  const killers = useMemo(() => listKillers(markers), [markers]);
  const groups = [
    {
      title: t("kills"),
      rows: found.filter(({ marker }) => marker.kind === "kill").sort((a, b) => timeOf(b.marker) - timeOf(a.marker)),
      action: onPick && killers.length > 0 && (
        <Button size="compact-xs" variant="default" onClick={() => onPick(killers)}>
          {t("pickKillers")}
        </Button>
      ),
    },
    { title: t("calls"), rows: found.filter(({ marker }) => marker.kind === "call") },
    { title: t("players"), rows: found.filter(({ marker }) => marker.kind === "player") },
  ].filter(({ rows }) => rows.length > 0);

  return (
    <>
      <TextInput
        type="search"
        aria-label={t("find")}
        placeholder={t("find")}
        value={search}
        onChange={(event) => setSearch(event.currentTarget.value)}
        leftSection={<Icon name="search" size={16} />}
      />
      <nav className="map-list framed" aria-label={t("list")}>
        {groups.length === 0 && <Note p="sm">{t("noneFound")}</Note>}
        {groups.map(({ title, rows, action }) => (
          <section key={title} aria-label={title}>
            <div className="map-group-title">
              <Text size="sm" fw={650} c="dimmed" className="numbers">
                {title} · {rows.length}
              </Text>
              {action}
            </div>
            <ul className="plain-list">
              {rows.map(({ marker, name }) => (
                <li key={marker.key} className="map-item">
                  {marker.kind === "player" && onPick && (
                    <input
                      type="checkbox"
                      className="map-pick"
                      aria-label={t("pick", { name })}
                      checked={picked.has(marker.key)}
                      onChange={() => onPick([marker.key])}
                    />
                  )}
                  <UnstyledButton
                    className="map-row"
                    aria-pressed={marker.key === followed}
                    onClick={() => onFollow(marker.key)}
                    onFocus={() => onHighlight(marker.key)}
                    onBlur={() => onHighlight(undefined)}
                    onPointerEnter={() => onHighlight(marker.key)}
                    onPointerLeave={() => onHighlight(undefined)}
                  >
                    <MarkerRow marker={marker} name={name} />
                  </UnstyledButton>
                  {marker.kind === "player" && <OpenPlayerIcon player={{ name, id: marker.id }} />}
                </li>
              ))}
            </ul>
          </section>
        ))}
      </nav>
    </>
  );
});

function MarkerRow({ marker, name }: { readonly marker: Marker; readonly name: string }) {
  const teamName = useTeamName();
  const scheme = useComputedColorScheme("light");
  const format = useFormat();
  const place =
    marker.kind === "call"
      ? [marker.description, marker.where]
      : marker.kind === "kill"
        ? [format.time(marker.at)]
        : [teamName(marker.team), marker.callsign, marker.postal, marker.street];
  return (
    <>
      {marker.kind === "call" ? (
        <span className="map-call-mark" style={{ color: teamColour(marker.team, scheme) }} aria-hidden />
      ) : marker.kind === "kill" ? (
        <KillMark />
      ) : (
        <TeamDot team={marker.team} />
      )}
      <span style={{ minWidth: 0, flex: 1 }}>
        <Text span size="sm" fw={600} truncate display="block" className="untrusted">
          {name} {marker.kind === "player" && <MarkerStars count={marker.stars} />} <CallingMark marker={marker} />
        </Text>
        <Text span size="xs" c="dimmed" truncate display="block" className="untrusted">
          {place.filter((part) => part !== "").join(" · ")}
        </Text>
      </span>
    </>
  );
}

function searchTextOfMarker(marker: Marker, name: string, team: string | undefined): string {
  const parts =
    marker.kind === "call"
      ? [name, team, marker.description, marker.where]
      : marker.kind === "kill"
        ? [name]
        : [name, marker.callsign, team, marker.street, marker.postal];
  return parts.join("\n").toLocaleLowerCase();
}

export function useMarkerName(): (marker: Marker) => string {
  const { t } = useTranslation("map");
  return useCallback(
    (marker) => {
      if (marker.kind === "player") return marker.name === "" ? t("unnamed") : marker.name;
      if (marker.kind === "kill") {
        const [killed, killer] = [marker.killed.name, marker.killer?.name];
        return killer === undefined ? t("died", { killed }) : t("killed", { killed, killer });
      }
      return marker.number === "" ? t("callUnnumbered") : t("call", { number: marker.number });
    },
    [t],
  );
}

/** A cross, as on the map. */
export function KillMark() {
  return (
    <span className="map-kill-mark" aria-hidden>
      ✕
    </span>
  );
}

function CallingMark({ marker }: { readonly marker: Marker }) {
  const { t } = useTranslation("map");
  if (!isCalling(marker)) return null;
  return (
    <span className="map-calling" role="img" aria-label={t("waiting")} title={t("waiting")}>
      <Icon name="calls" size={14} />
    </span>
  );
}

function isCalling(marker: Marker): boolean {
  return marker.kind === "player" && marker.isCalling;
}

function timeOf(marker: Marker): number {
  return marker.kind === "kill" ? marker.at : 0;
}

/** The keys of the killers of the last minute who are on the map. */
function listKillers(markers: readonly Marker[]): readonly string[] {
  const ids = new Set(markers.map((marker) => (marker.kind === "kill" ? marker.killer?.id : undefined)));
  return markers.flatMap((marker) =>
    marker.kind === "player" && marker.id !== undefined && ids.has(marker.id) ? marker.key : [],
  );
}

export function MarkerStars({ count }: { readonly count: number }) {
  const { t } = useTranslation("map");
  if (count === 0) return null;
  return (
    <span className="map-stars numbers" role="img" aria-label={t("wanted", { count })}>
      ★{count}
    </span>
  );
}

export function MarkerFacts(props: {
  readonly marker: Marker;
  /** Whether the name of a player opens the drawer. */
  readonly isLinked?: boolean;
}) {
  const { t } = useTranslation("map");
  const { marker, isLinked = false } = props;
  const nameOf = useMarkerName();
  const name = nameOf(marker);
  return (
    <>
      <Text fw={650} className="untrusted" component="div">
        {isLinked && marker.kind === "player" ? <PlayerLink player={{ name, id: marker.id }} /> : name}{" "}
        {marker.kind === "player" && <MarkerStars count={marker.stars} />} <CallingMark marker={marker} />
      </Text>
      <dl className="facts map-facts">
        {marker.kind !== "kill" && (
          <Fact name={t("facts.team")}>
            <TeamLabel team={marker.team} />
          </Fact>
        )}
        {marker.kind === "player" && <PlayerFacts marker={marker} />}
        {marker.kind === "call" && <CallFacts marker={marker} />}
        {marker.kind === "kill" && <KillFacts marker={marker} isLinked={isLinked} />}
      </dl>
    </>
  );
}

function PlayerFacts({ marker }: { readonly marker: PlayerMarker }) {
  const { t } = useTranslation("map");
  return (
    <>
      <Fact name={t("facts.callsign")}>{marker.callsign}</Fact>
      <Fact name={t("facts.postal")}>{marker.postal}</Fact>
      <Fact name={t("facts.street")}>{marker.street}</Fact>
      <Fact name={t("facts.building")}>{marker.building}</Fact>
    </>
  );
}

function KillFacts(props: { readonly marker: KillMarker; readonly isLinked: boolean }) {
  const { t } = useTranslation("map");
  const format = useFormat();
  const { killed, killer, at } = props.marker;
  const show = (player: PlayerRef) => (props.isLinked ? <PlayerLink player={player} /> : player.name);
  return (
    <>
      {props.isLinked && <Fact name={t("facts.killed")}>{show(killed)}</Fact>}
      {props.isLinked && <Fact name={t("facts.killer")}>{killer && show(killer)}</Fact>}
      <Fact name={t("facts.at")}>{format.time(at)}</Fact>
    </>
  );
}

function CallFacts({ marker }: { readonly marker: CallMarker }) {
  const { t } = useTranslation("map");
  const format = useFormat();
  const { startedAt } = marker;
  return (
    <>
      <Fact name={t("facts.about")}>{marker.description}</Fact>
      <Fact name={t("facts.where")}>{marker.where}</Fact>
      <Fact name={t("facts.since")}>{startedAt !== undefined && format.time(startedAt)}</Fact>
    </>
  );
}
