// The view "map": players and emergency calls on a canvas, and the same markers as a list beside it.
import { ActionIcon, Box, Button, CloseButton, Group, Paper, Stack, Text, Tooltip } from "@mantine/core";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Section } from "../../core/sections.ts";
import type { ServerState } from "../api/caller.ts";
import { Icon, type IconName } from "../parts/icon.tsx";
import { EmptyState, ServerStateGate } from "../parts/states.tsx";
import { TeamLabel } from "../parts/team.tsx";
import { ViewPage } from "../parts/view-page.tsx";
import { useOpenPlayer } from "../state/open-player.ts";
import { useGameMap } from "../state/use-game-map.ts";
import { useServerState } from "../state/use-server-state.tsx";
import { TEAMS } from "../team-colours.ts";
import { EMPTY_GROUND, makeGround } from "./map/ground.ts";
import "./map/map.css";
import { MarkerFacts, useMarkerName } from "./map/marker-facts.tsx";
import { MarkerList } from "./map/marker-list.tsx";
import { listMarkers, type Marker } from "./map/markers.ts";
import { useCoveredParts } from "./map/use-covered-parts.ts";
import { useMapEngine } from "./map/use-map-engine.ts";
import { useShownPlayer } from "./map/use-shown-player.ts";

const WANTED: readonly Section[] = ["Players", "EmergencyCalls"];
const HELP_ID = "map-help";

export function MapView() {
  const { t } = useTranslation("map");
  const view = useServerState(WANTED, true);
  return (
    <ViewPage title={t("title")} summary={t("summary")}>
      <ServerStateGate view={view}>{(state) => <MapContent state={state} />}</ServerStateGate>
    </ViewPage>
  );
}

function MapContent({ state }: { readonly state: ServerState }) {
  const { t } = useTranslation("map");
  const markers = useMemo(() => listMarkers(state), [state]);
  const placed = markers.filter(({ kind }) => kind === "player").length;
  const unplaced = (state.Players?.length ?? 0) - placed;
  return (
    <Stack gap="sm">
      {markers.length === 0 ? (
        <EmptyState title={t("empty")}>{t("emptyText")}</EmptyState>
      ) : (
        <MapBoard markers={markers} />
      )}
      {unplaced > 0 && (
        <Text size="sm" c="dimmed">
          {t("nowhere", { count: unplaced })}
        </Text>
      )}
    </Stack>
  );
}

function MapBoard({ markers }: { readonly markers: readonly Marker[] }) {
  const { t } = useTranslation("map");
  const nameOf = useMarkerName();
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const tooltip = useRef<HTMLDivElement>(null);
  const [hoveredKey, setHovered] = useState<string>();
  const [highlightedKey, setHighlighted] = useState<string>();
  const [selectedKey, setSelected] = useState<string>();
  const [followedKey, setFollowed] = useState<string>();
  const engine = useMapEngine(canvas, tooltip, {
    onHover: setHovered,
    onSelect(key) {
      setSelected(key);
      if (key === undefined) setFollowed(undefined);
      else setFollowed((followed) => (followed === undefined ? undefined : key));
    },
    onFollowEnd: () => setFollowed(undefined),
  });
  useEffect(() => engine?.setMarkers(markers), [engine, markers]);
  const { learned, picture } = useGameMap();
  const ground = useMemo(() => (learned ? makeGround(learned) : EMPTY_GROUND), [learned]);
  const corners = learned?.image;
  const backdrop = useMemo(
    () => (corners && picture ? { ...corners, picture } : undefined),
    [corners, picture],
  );
  useEffect(() => engine?.setGround(ground, backdrop), [engine, ground, backdrop]);
  useEffect(() => engine?.setSelected(selectedKey), [engine, selectedKey]);
  useEffect(() => engine?.setHighlighted(highlightedKey), [engine, highlightedKey]);
  useEffect(() => engine?.follow(followedKey), [engine, followedKey]);

  useShownPlayer(markers, (key) => {
    setSelected(key);
    setFollowed(key);
  });

  // Escape closes the drawer first.
  const isCovered = useOpenPlayer() !== undefined;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.defaultPrevented || isCovered) return;
      if (followedKey !== undefined) setFollowed(undefined);
      else setSelected(undefined);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [followedKey, isCovered]);

  const find = (key: string | undefined) =>
    key === undefined ? undefined : markers.find((marker) => marker.key === key);
  const described = find(hoveredKey ?? highlightedKey);
  const selected = find(selectedKey);
  const followed = find(followedKey);
  useCoveredParts(engine, frame, followed !== undefined);
  const followFromList = useCallback((key: string) => {
    setSelected(key);
    setFollowed((before) => (before === key ? undefined : key));
  }, []);

  return (
    <>
      <div className="map-board">
        <div ref={frame} className="map-frame">
          {/* biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: the canvas handles keys itself */}
          <canvas
            ref={canvas}
            className="map-canvas"
            tabIndex={0}
            role="application"
            aria-label={t("board")}
            aria-describedby={HELP_ID}
          />
          {followed && (
            <Paper className="map-following" withBorder shadow="sm" px="sm" py={4}>
              <Text size="sm" fw={600} truncate className="untrusted" role="status">
                {t("following", { name: nameOf(followed) })}
              </Text>
            </Paper>
          )}
          <ActionIcon.Group className="map-buttons" orientation="vertical">
            <MapButton icon="plus" label={t("zoomIn")} onClick={() => engine?.zoomIn()} />
            <MapButton icon="minus" label={t("zoomOut")} onClick={() => engine?.zoomOut()} />
            <MapButton icon="fit" label={t("fit")} onClick={() => engine?.fit()} />
          </ActionIcon.Group>
          <div
            ref={tooltip}
            className="map-tooltip"
            style={{ visibility: "hidden" }}
            hidden={!described}
            aria-hidden
          >
            {described && <MarkerFacts marker={described} />}
          </div>
        </div>
        <div className="map-side">
          {selected && (
            <SelectedCard
              marker={selected}
              isFollowed={selectedKey === followedKey}
              onFollow={(isWanted) => setFollowed(isWanted ? selectedKey : undefined)}
              onClose={() => {
                setSelected(undefined);
                setFollowed(undefined);
              }}
            />
          )}
          <MarkerList
            markers={markers}
            followed={followedKey}
            onFollow={followFromList}
            onHighlight={setHighlighted}
          />
        </div>
      </div>
      <Legend markers={markers} />
      <Text size="sm" c="dimmed" id={HELP_ID} visibleFrom="sm">
        {t("help")}
      </Text>
      <Text size="sm" c="dimmed" hiddenFrom="sm">
        {t("helpTouch")}
      </Text>
    </>
  );
}

function MapButton(props: { readonly icon: IconName; readonly label: string; readonly onClick: () => void }) {
  return (
    <Tooltip label={props.label} position="left">
      <ActionIcon variant="default" size="xl" aria-label={props.label} onClick={props.onClick}>
        <Icon name={props.icon} size={18} />
      </ActionIcon>
    </Tooltip>
  );
}

function SelectedCard(props: {
  readonly marker: Marker;
  readonly isFollowed: boolean;
  readonly onFollow: (isWanted: boolean) => void;
  readonly onClose: () => void;
}) {
  const { t } = useTranslation(["map", "shell"]);
  const { marker, isFollowed, onFollow, onClose } = props;
  return (
    <Paper component="section" aria-label={t("map:chosen")} withBorder p="sm">
      <Group justify="space-between" align="flex-start" wrap="nowrap" gap="xs">
        <Box miw={0}>
          <MarkerFacts marker={marker} isLinked />
        </Box>
        <CloseButton aria-label={t("shell:close")} onClick={onClose} />
      </Group>
      <Button
        mt="sm"
        size="xs"
        variant={isFollowed ? "filled" : "light"}
        leftSection={<Icon name="follow" size={16} />}
        onClick={() => onFollow(!isFollowed)}
      >
        {t(isFollowed ? "map:stopFollowing" : "map:follow")}
      </Button>
    </Paper>
  );
}

function Legend({ markers }: { readonly markers: readonly Marker[] }) {
  const { t } = useTranslation("map");
  const counts = new Map<string, number>();
  for (const { kind, team } of markers) {
    if (kind === "player") counts.set(team, (counts.get(team) ?? 0) + 1);
  }
  const known: readonly string[] = TEAMS;
  const teams = [...TEAMS, ...Array.from(counts.keys()).filter((team) => !known.includes(team))];
  return (
    <Group component="section" aria-label={t("legend")} gap="md" className="numbers">
      {teams
        .filter((team) => counts.has(team))
        .map((team) => (
          <Text key={team} size="sm" component="span">
            <TeamLabel team={team} /> {counts.get(team)}
          </Text>
        ))}
      {markers.some(({ kind }) => kind === "call") && (
        <Group gap={8} component="span" display="inline-flex">
          <span className="map-call-mark" aria-hidden />
          <Text size="sm" span>
            {t("legendCall")}
          </Text>
        </Group>
      )}
      {markers.some((marker) => marker.kind === "player" && marker.stars > 0) && (
        <Text size="sm" span>
          <span className="map-stars">★</span> {t("legendWanted")}
        </Text>
      )}
    </Group>
  );
}
