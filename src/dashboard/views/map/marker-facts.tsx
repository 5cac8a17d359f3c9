// Shows what is known about a marker, in the tooltip and in the card of the selected marker.
import { Text } from "@mantine/core";
import { useCallback } from "react";
import { useTranslation } from "react-i18next";
import { PlayerLink } from "../../parts/player-name.tsx";
import { TeamLabel } from "../../parts/team.tsx";
import { useFormat } from "../../state/use-format.ts";
import type { Marker } from "./markers.ts";

export function useMarkerName(): (marker: Marker) => string {
  const { t } = useTranslation("map");
  return useCallback(
    (marker) => {
      if (marker.kind === "player") return marker.name === "" ? t("unnamed") : marker.name;
      return marker.number === "" ? t("callUnnumbered") : t("call", { number: marker.number });
    },
    [t],
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
        {marker.kind === "player" && <MarkerStars count={marker.stars} />}
      </Text>
      <dl className="map-facts">
        <dt>{t("facts.team")}</dt>
        <dd>
          <TeamLabel team={marker.team} />
        </dd>
        {marker.kind === "player" ? <PlayerFacts marker={marker} /> : <CallFacts marker={marker} />}
      </dl>
    </>
  );
}

function PlayerFacts({ marker }: { readonly marker: Extract<Marker, { kind: "player" }> }) {
  const { t } = useTranslation("map");
  return (
    <>
      <Fact name={t("facts.callsign")} value={marker.callsign} />
      <Fact name={t("facts.postal")} value={marker.postal} />
      <Fact name={t("facts.street")} value={marker.street} />
      <Fact name={t("facts.building")} value={marker.building} />
    </>
  );
}

function CallFacts({ marker }: { readonly marker: Extract<Marker, { kind: "call" }> }) {
  const { t } = useTranslation("map");
  const format = useFormat();
  const { startedAt } = marker;
  return (
    <>
      <Fact name={t("facts.about")} value={marker.description} />
      <Fact name={t("facts.where")} value={marker.where} />
      <Fact name={t("facts.since")} value={startedAt === undefined ? "" : format.time(startedAt)} />
    </>
  );
}

/** Renders nothing when the game sends no value. */
function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  if (value === "") return null;
  return (
    <>
      <dt>{name}</dt>
      <dd className="untrusted">{value}</dd>
    </>
  );
}
