// Shows a player: the name, which opens the player's drawer, the id, and single facts. Name and id can be copied.

import { ActionIcon, Button, Group, Text, VisuallyHidden } from "@mantine/core";
import { type CSSProperties, createContext, type ReactNode, useContext, useMemo, useRef } from "react";
import { useTranslation } from "react-i18next";
import type { Location } from "../../../core/wire/server-info.ts";
import { isPlayerId, type PlayerRef, parsePlayerRef } from "../../player-ref.ts";
import { usePlayerLink } from "../../state/open-player.ts";
import { useServerState } from "../../state/server/use-server-state.tsx";
import { teamColour } from "../../team-colours.ts";
import { Icon } from "../icon.tsx";
import { BriefContext, CopyButton, cutText, GameText, MarkedText, markInvisible, WholeText } from "./game-text.tsx";
import { writeInitials } from "./initials.ts";
import { Note } from "./plain-text.tsx";

/** How much of a name is in the label of its copy button. */
const SPOKEN_MAX = 30;
/** How much of a name a link shows. */
const LINK_MAX = 48;

/** The teams of players by their ids, as last read. */
type PlayerTeams = ReadonlyMap<string, string>;
const NO_TEAMS: PlayerTeams = new Map();
const PlayerTeamsContext = createContext(NO_TEAMS);

/** Tells all names of a page the teams of the players, as far as any view has read them. */
export function PlayerTeamsProvider({ children }: { readonly children: ReactNode }) {
  const players = useServerState().state?.Players;
  const teams = useMemo(
    () => players && new Map(players.map(({ Player, Team }) => [parsePlayerRef(Player).id ?? "", Team ?? ""])),
    [players],
  );
  return <PlayerTeamsContext value={useSameMap(teams) ?? NO_TEAMS}>{children}</PlayerTeamsContext>;
}

/** Gives the map of before while the entries are the same, or none are known, so that nothing is rendered again. */
export function useSameMap(map: ReadonlyMap<string, string> | undefined): ReadonlyMap<string, string> | undefined {
  const last = useRef(map);
  return useMemo(() => {
    const before = last.current;
    const isSame =
      before && map?.size === before.size && Array.from(map).every(([key, text]) => before.get(key) === text);
    if (map && !isSame) last.current = map;
    return last.current;
  }, [map]);
}

/** The initials of a player in the colour of their team, grey for a player who is not on the server. */
export function PlayerInitials({ player }: { readonly player: PlayerRef }) {
  const team = useContext(PlayerTeamsContext).get(player.id ?? "");
  // Both colours, because asking for the scheme in every row takes long.
  const colours = team !== undefined && { "--light": teamColour(team, "light"), "--dark": teamColour(team, "dark") };
  const initials = writeInitials(player.name);
  return <span className="initials" aria-hidden data-initials={initials} style={(colours || {}) as CSSProperties} />;
}

export function CopyableText(props: {
  readonly text: string;
  readonly isNumber?: boolean;
  readonly isStrong?: boolean;
}) {
  const { text, isNumber = false, isStrong = false } = props;
  return (
    // Plain elements, because tables have hundreds of these and Mantine's render slowly.
    <span className="copyable">
      <span className={isNumber ? "numbers" : undefined} data-strong={isStrong || undefined}>
        <GameText text={text} />
      </span>
      <CopyButton value={text} label={cutText(text, SPOKEN_MAX).text} />
    </span>
  );
}

/** A name that opens the drawer, and can be copied. */
export function CopyablePlayer({ player }: { readonly player: PlayerRef }) {
  return (
    <span className="copyable">
      <PlayerLink player={player} />
      <CopyButton value={player.name} label={cutText(player.name, SPOKEN_MAX).text} />
    </span>
  );
}

/** Name and id on one line. */
export function PlayerName(props: {
  readonly name: string;
  readonly id: string | undefined;
  /** Shown when there is no name; null for nothing. */
  readonly unknown?: string | null;
  /** Where the name leads to, instead of the drawer. */
  readonly href?: string | undefined;
}) {
  const { t } = useTranslation("table");
  const { id, href, unknown = t("unknown") } = props;
  const name = props.name.trim() === "" ? "" : props.name;
  const isBrief = useContext(BriefContext);
  return (
    <Group gap={6} component="span" display="inline-flex" miw={0}>
      {name !== "" && <PlayerLink player={{ name, id }} href={href} />}
      {name === "" && unknown !== null && <Note span>{unknown}</Note>}
      {id !== undefined && (!isBrief || name === "") && (
        <Group gap={2} wrap="nowrap" component="span" display="inline-flex">
          {name === "" ? (
            <PlayerLink player={{ name: id, id }} max={SPOKEN_MAX} href={href} />
          ) : (
            <Text component="span" size="xs" c="dimmed" className="numbers">
              {cutText(id, SPOKEN_MAX).text}
            </Text>
          )}
          <CopyButton value={id} label={cutText(id, SPOKEN_MAX).text} />
        </Group>
      )}
    </Group>
  );
}

/** The name alone. It is plain text for a player without an id, who cannot be opened. */
export function PlayerLink(props: {
  readonly player: PlayerRef;
  readonly max?: number;
  /** Where the name leads to, instead of the drawer. */
  readonly href?: string | undefined;
}) {
  const { player, max = LINK_MAX } = props;
  const { name, id } = player;
  const linkTo = usePlayerLink();
  const isBrief = useContext(BriefContext);
  if (id === undefined || !isPlayerId(id)) {
    return (
      <span className="player-link">
        <PlayerInitials player={player} />
        <GameText text={name} max={max} />
      </span>
    );
  }
  const { text, isCut } = cutText(name, max);
  return (
    <span className="game-text-cut">
      <a
        className="player-link"
        {...(props.href === undefined ? linkTo({ name: name === id ? "" : name, id }) : { href: props.href })}
      >
        <PlayerInitials player={player} />
        <bdi className="game-text">
          <MarkedText text={text} />
          {isCut && isBrief && "…"}
        </bdi>
      </a>
      {isCut && !isBrief && <WholeText text={name} className="game-text" />}
    </span>
  );
}

/** Opens the drawer from a row that is a button itself. Nothing for a player who cannot be opened. */
export function OpenPlayerIcon({ player }: { readonly player: PlayerRef }) {
  const { t } = useTranslation("table");
  const linkTo = usePlayerLink();
  const { name, id } = player;
  if (id === undefined || !isPlayerId(id)) return null;
  const label = t("openPlayer", { name: markInvisible(cutText(name, SPOKEN_MAX).text) });
  return (
    <ActionIcon component="a" aria-label={label} title={label} {...linkTo({ name, id })}>
      <Icon name="more" size={16} />
    </ActionIcon>
  );
}

const BUTTON_NAME_MAX = 20;

/** Nothing for a player without an id, who cannot be opened. The name is beside the button, so only screen readers need it. */
export function OpenPlayerButton({ player }: { readonly player: PlayerRef }) {
  const { t } = useTranslation("calls");
  const linkTo = usePlayerLink();
  const { name, id } = player;
  if (id === undefined || !isPlayerId(id)) return null;
  const { text, isCut } = cutText(name.trim() === "" ? id : name, BUTTON_NAME_MAX);
  return (
    <Button component="a" {...linkTo({ name, id })} size="xs" variant="light">
      {t("moderator.open")}
      <VisuallyHidden>
        {" "}
        <bdi>
          <MarkedText text={text} />
          {isCut && "…"}
        </bdi>
      </VisuallyHidden>
    </Button>
  );
}

/** The maximum in the game; more stars are written as a number. */
const STARS_DRAWN_MAX = 5;

/** The postal code comes first, because players use it on the radio. */
export function describePlace(place: Location | undefined): string | undefined {
  const street = [place?.BuildingNumber, place?.StreetName].filter(Boolean).join(" ");
  const text = [place?.PostalCode, street].filter(Boolean).join(" · ");
  return text === "" ? undefined : text;
}

const PERMISSIONS = [
  "Normal",
  "Server Helper",
  "Server Moderator",
  "Server Administrator",
  "Server Co-Owner",
  "Server Owner",
] as const;

/** Translates a permission; an unknown one keeps the name of the game. */
export function usePermissionName(): (permission: string) => string {
  const { t } = useTranslation("players");
  return useMemo(
    () => (permission) => {
      const known = PERMISSIONS.find((name) => name === permission);
      return known === undefined ? permission : t(`permission.${known}`);
    },
    [t],
  );
}

export function StarsCell({ count }: { readonly count: number }) {
  const { t } = useTranslation("players");
  const isDrawn = typeof count === "number" && count > 0 && count <= STARS_DRAWN_MAX;
  return (
    <span className="stars">
      <span aria-hidden>{isDrawn ? "★".repeat(count) : `★ ${count}`}</span>
      <span className="visually-hidden">{t("stars", { n: count })}</span>
    </span>
  );
}
