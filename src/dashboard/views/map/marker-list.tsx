// The markers as a list, for keyboard and screen reader users: to search, highlight and follow them.
import { Text, TextInput, UnstyledButton, useComputedColorScheme } from "@mantine/core";
import { memo, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { Icon } from "../../parts/icon.tsx";
import { OpenPlayerIcon } from "../../parts/player-name.tsx";
import { TeamDot, useTeamName, useTeamSearchText } from "../../parts/team.tsx";
import { teamColour } from "../../team-colours.ts";
import { MarkerStars, useMarkerName } from "./marker-facts.tsx";
import type { Marker } from "./markers.ts";

type ListProps = {
  readonly markers: readonly Marker[];
  readonly followed: string | undefined;
  readonly onFollow: (key: string) => void;
  /** Called with the marker that has the focus or the pointer in the list. */
  readonly onHighlight: (key: string | undefined) => void;
};

export const MarkerList = memo(function MarkerList({ markers, followed, onFollow, onHighlight }: ListProps) {
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
    return matching.sort((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }));
  }, [markers, search, nameOf, searchTextOf]);
  const groups = [
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
      <nav className="map-list" aria-label={t("list")}>
        {groups.length === 0 && (
          <Text c="dimmed" size="sm" p="sm">
            {t("noneFound")}
          </Text>
        )}
        {groups.map(({ title, rows }) => (
          <section key={title} aria-label={title}>
            <Text size="sm" fw={650} c="dimmed" px="xs" py={4} className="numbers">
              {title} · {rows.length}
            </Text>
            <ul>
              {rows.map(({ marker, name }) => (
                <li key={marker.key} className="map-item">
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
  const place =
    marker.kind === "call"
      ? [marker.description, marker.where]
      : [teamName(marker.team), marker.callsign, marker.postal, marker.street];
  return (
    <>
      {marker.kind === "call" ? (
        <span className="map-call-mark" style={{ color: teamColour(marker.team, scheme) }} aria-hidden />
      ) : (
        <TeamDot team={marker.team} />
      )}
      <span style={{ minWidth: 0, flex: 1 }}>
        <Text span size="sm" fw={600} truncate display="block" className="untrusted">
          {name} {marker.kind === "player" && <MarkerStars count={marker.stars} />}
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
      : [name, marker.callsign, team, marker.street, marker.postal];
  return parts.join("\n").toLocaleLowerCase();
}
