// The view "map": players, emergency calls and kills on a canvas, the same markers as a list beside it, and what can be done
// with the players who are chosen there.

import {
  ActionIcon,
  Box,
  Button,
  CloseButton,
  Group,
  Paper,
  Stack,
  Text,
  Tooltip,
  VisuallyHidden,
} from "@mantine/core";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Section } from "../../../core/sections.ts";
import type { ServerState } from "../../api/caller.ts";
import { Icon, type IconName } from "../../parts/icon.tsx";
import { LazyView } from "../../parts/lazy-view.tsx";
import { EmptyState, ServerStateGate } from "../../parts/states.tsx";
import { Note } from "../../parts/text/plain-text.tsx";
import { TeamDot, TeamLabel } from "../../parts/text/team.tsx";
import { ViewPage } from "../../parts/view-page.tsx";
import { isPlayerId, parsePlayerRef } from "../../player-ref.ts";
import { SHOW_PARAMETER, useOpenPlayer } from "../../state/open-player.ts";
import { dropRouteParameters, useRouteParameter } from "../../state/route.ts";
import { useGameMap } from "../../state/server/use-game-map.ts";
import { useServerState } from "../../state/server/use-server-state.tsx";
import { useSession } from "../../state/session/session.ts";
import { listTeams } from "../../team-colours.ts";
import { EMPTY_GROUND, makeGround } from "./ground.ts";
import { ZOOM_STEP } from "./map-engine.ts";
import { KillMark, MarkerFacts, MarkerList, useMarkerName } from "./marker-list.tsx";
import type { Marker, PlayerMarker } from "./markers.ts";
import { useCoveredParts, useMapEngine } from "./use-map-engine.ts";
import { useMarkers } from "./use-markers.ts";
import "./map.css";

const WANTED: readonly Section[] = ["Players", "EmergencyCalls"];
const HELP_ID = "map-help";
const NOBODY: ReadonlySet<string> = new Set();
// From the lazy files of the drawer and the console: what several lazy files import would be loaded with the page.
const loadDrawer = () => import("../player/player-details.tsx");
const loadActions = async () => (await loadDrawer()).PlayerActions;
const loadGroupActions = async () => {
  // The drawer brings the texts of both.
  const [{ GroupActions }] = await Promise.all([import("../commands/commands-view.tsx"), loadDrawer()]);
  return GroupActions;
};

export function MapView() {
  const { t } = useTranslation("map");
  const view = useServerState(WANTED, true);
  return (
    <ViewPage title={t("title")}>
      <ServerStateGate view={view}>
        {(state) => <MapContent state={state} isFresh={view.condition === "ok"} />}
      </ServerStateGate>
    </ViewPage>
  );
}

type ContentProps = {
  readonly state: ServerState;
  /** An old reading does not tell who else is there now. */
  readonly isFresh: boolean;
};

function MapContent({ state, isFresh }: ContentProps) {
  const { t } = useTranslation("map");
  const markers = useMarkers(state);
  if (markers.length === 0) return <EmptyState title={t("empty")}>{t("emptyText")}</EmptyState>;
  return <MapBoard markers={markers} state={state} isFresh={isFresh} />;
}

function MapBoard({ markers, state, isFresh }: ContentProps & { readonly markers: readonly Marker[] }) {
  const { t } = useTranslation("map");
  const { session } = useSession();
  const nameOf = useMarkerName();
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const tooltip = useRef<HTMLDivElement>(null);
  const [hoveredKey, setHovered] = useState<string>();
  const [highlightedKey, setHighlighted] = useState<string>();
  const [selectedKey, setSelected] = useState<string>();
  const [followedKey, setFollowed] = useState<string>();
  const [isListOpen, setListOpen] = useState(false);
  const mayCommand = session.kind === "caller" && session.mayCommand;
  const { picked, pickedKeys, pick, unpickAll } = usePicked(markers, mayCommand);
  const engine = useMapEngine(canvas, tooltip, {
    onHover: setHovered,
    onSelect(key, isPicking) {
      if (isPicking && key !== undefined) return pick([key]);
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
  const backdrop = useMemo(() => (corners && picture ? { ...corners, picture } : undefined), [corners, picture]);
  useEffect(() => engine?.set({ ground, backdrop }), [engine, ground, backdrop]);
  useEffect(
    () => engine?.set({ selected: selectedKey, highlighted: highlightedKey, picked: pickedKeys }),
    [engine, selectedKey, highlightedKey, pickedKeys],
  );
  useEffect(() => engine?.follow(followedKey), [engine, followedKey]);

  // A link to the map names a player to show. It is used once, so that the user can then look elsewhere.
  const shownId = useRouteParameter(SHOW_PARAMETER);
  useEffect(() => {
    const shown = markers.find((each) => each.kind === "player" && each.id !== undefined && each.id === shownId);
    if (!shown) return;
    setSelected(shown.key);
    setFollowed(shown.key);
    dropRouteParameters();
  }, [markers, shownId]);

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
    // On a phone it lies over what the user wants to see now.
    setListOpen(false);
  }, []);
  const placed = markers.filter(({ kind }) => kind === "player").length;
  const unplaced = (state.Players?.length ?? 0) - placed;

  return (
    <div className="map-board" data-list={isListOpen || undefined}>
      <div ref={frame} className="map-frame framed">
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
          <MapButton icon="plus" label={t("zoomIn")} onClick={() => engine?.zoom(ZOOM_STEP)} />
          <MapButton icon="minus" label={t("zoomOut")} onClick={() => engine?.zoom(1 / ZOOM_STEP)} />
          <MapButton icon="fit" label={t("fit")} onClick={() => engine?.fit()} />
        </ActionIcon.Group>
        <ActionIcon
          className="map-list-button"
          variant="default"
          size="xl"
          aria-label={t(isListOpen ? "hideList" : "showList")}
          aria-expanded={isListOpen}
          onClick={() => setListOpen(!isListOpen)}
        >
          <Icon name="logs" size={18} />
        </ActionIcon>
        <Legend markers={markers} />
        <div
          ref={tooltip}
          className="map-tooltip framed"
          style={{ visibility: "hidden" }}
          hidden={!described}
          aria-hidden
        >
          {described && <MarkerFacts marker={described} />}
        </div>
        <VisuallyHidden id={HELP_ID}>{t("help")}</VisuallyHidden>
      </div>
      <div className="map-side">
        {selected && picked.length === 0 && (
          <SelectedCard
            marker={selected}
            state={state}
            isFresh={isFresh}
            isFollowed={selectedKey === followedKey}
            onFollow={(isWanted) => setFollowed(isWanted ? selectedKey : undefined)}
            onClose={() => {
              setSelected(undefined);
              setFollowed(undefined);
            }}
          />
        )}
        {picked.length > 0 && <PickedCard picked={picked} onUnpick={(key) => pick([key])} onClose={unpickAll} />}
        <div className="map-finder">
          <MarkerList
            markers={markers}
            followed={followedKey}
            onFollow={followFromList}
            onHighlight={setHighlighted}
            picked={pickedKeys}
            onPick={mayCommand ? pick : undefined}
          />
          {unplaced > 0 && <Note>{t("nowhere", { count: unplaced })}</Note>}
        </div>
      </div>
    </div>
  );
}

/** The players who are picked for a command, as long as they are on the map. */
function usePicked(markers: readonly Marker[], mayCommand: boolean) {
  const [keys, setKeys] = useState<ReadonlySet<string>>(NOBODY);
  const picked = useMemo(
    () => markers.flatMap((marker) => (marker.kind === "player" && keys.has(marker.key) ? marker : [])),
    [markers, keys],
  );
  const names = picked.map(({ key }) => key).join("\n");
  const pickedKeys = useMemo(() => (names === "" ? NOBODY : new Set(names.split("\n"))), [names]);
  /** One who is picked already is left out, unless there are several. */
  const pick = useCallback(
    (wanted: readonly string[]) => {
      if (!mayCommand) return;
      setKeys((old) => {
        const [only, ...others] = wanted;
        if (only === undefined || others.length > 0 || !old.has(only)) return new Set([...old, ...wanted]);
        return new Set(Array.from(old).filter((key) => key !== only));
      });
    },
    [mayCommand],
  );
  const unpickAll = useCallback(() => setKeys(NOBODY), []);
  return { picked, pickedKeys, pick, unpickAll };
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

function SelectedCard(
  props: ContentProps & {
    readonly marker: Marker;
    readonly isFollowed: boolean;
    readonly onFollow: (isWanted: boolean) => void;
    readonly onClose: () => void;
  },
) {
  const { t } = useTranslation(["map", "shell"]);
  const { marker, state, isFresh, isFollowed, onFollow, onClose } = props;
  const id = marker.kind === "player" ? marker.id : undefined;
  const here = useMemo(() => state.Players?.map(({ Player }) => parsePlayerRef(Player)), [state.Players]);
  // The name as the game has it: that of the marker may be cut.
  const player = here?.find((other) => id !== undefined && other.id === id);
  return (
    <Paper component="section" aria-label={t("map:chosen")} withBorder p="sm" className="map-card map-selected">
      <Group justify="space-between" align="flex-start" wrap="nowrap" gap="xs">
        <Box miw={0}>
          <MarkerFacts marker={marker} isLinked />
        </Box>
        <CloseButton aria-label={t("shell:close")} onClick={onClose} />
      </Group>
      <Stack gap="xs" mt="xs">
        {id !== undefined && isPlayerId(id) && player && (
          <LazyView
            key={id}
            load={loadActions}
            given={{
              player: { name: player.name, id },
              presence: "here" as const,
              team: marker.team,
              here: isFresh ? here : undefined,
            }}
            placeholder={null}
          />
        )}
        <Button
          size="xs"
          style={{ alignSelf: "flex-start" }}
          variant={isFollowed ? "filled" : "light"}
          leftSection={<Icon name="follow" size={16} />}
          onClick={() => onFollow(!isFollowed)}
        >
          {t(isFollowed ? "map:stopFollowing" : "map:follow")}
        </Button>
      </Stack>
    </Paper>
  );
}

function PickedCard(props: {
  readonly picked: readonly PlayerMarker[];
  readonly onUnpick: (key: string) => void;
  readonly onClose: () => void;
}) {
  const { t } = useTranslation("map");
  const { picked, onUnpick, onClose } = props;
  const nameOf = useMarkerName();
  const title = t("picked", { count: picked.length });
  return (
    <Paper component="section" aria-label={title} withBorder p="sm" className="map-card">
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <Text fw={650} className="numbers" role="status">
          {title}
        </Text>
        <CloseButton aria-label={t("unpickAll")} onClick={onClose} />
      </Group>
      <ul className="plain-list map-picked">
        {picked.map((marker) => (
          <li key={marker.key}>
            <TeamDot team={marker.team} />
            <Text span size="sm" truncate className="untrusted">
              {nameOf(marker)}
            </Text>
            <CloseButton
              size="sm"
              aria-label={t("unpick", { name: nameOf(marker) })}
              onClick={() => onUnpick(marker.key)}
            />
          </li>
        ))}
      </ul>
      <LazyView
        load={loadGroupActions}
        given={{ players: picked.map(({ name, id, team }) => ({ name, id, team })) }}
        placeholder={null}
      />
    </Paper>
  );
}

function Legend({ markers }: { readonly markers: readonly Marker[] }) {
  const { t } = useTranslation("map");
  const counts = new Map<string, number>();
  for (const { kind, team } of markers) {
    if (kind === "player") counts.set(team, (counts.get(team) ?? 0) + 1);
  }
  return (
    <Group component="section" aria-label={t("legend")} gap="0.25rem 0.75rem" className="map-legend numbers">
      {listTeams(counts.keys())
        .filter((team) => counts.has(team))
        .map((team) => (
          <Group key={team} gap={4} fz="xs" component="span">
            <TeamLabel team={team} /> {counts.get(team)}
          </Group>
        ))}
      {markers.some(({ kind }) => kind === "call") && (
        <Group gap={8} component="span" display="inline-flex">
          <span className="map-call-mark" aria-hidden />
          <Text size="xs" span>
            {t("legendCall")}
          </Text>
        </Group>
      )}
      {markers.some(({ kind }) => kind === "kill") && (
        <Group gap={6} component="span" display="inline-flex">
          <KillMark />
          <Text size="xs" span>
            {t("legendKill")}
          </Text>
        </Group>
      )}
      {markers.some((marker) => marker.kind === "player" && marker.isCalling) && (
        <Group gap={6} component="span" display="inline-flex">
          <span className="map-calling-mark" aria-hidden />
          <Text size="xs" span>
            {t("waiting")}
          </Text>
        </Group>
      )}
      {markers.some((marker) => marker.kind === "player" && marker.stars > 0) && (
        <Text size="xs" span>
          <span className="map-stars">★</span> {t("legendWanted")}
        </Text>
      )}
    </Group>
  );
}
