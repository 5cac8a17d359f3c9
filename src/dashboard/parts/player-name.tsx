// Shows the name and the id of a player. The name opens the player's drawer; name and id can be copied.
import { ActionIcon, Anchor, Group, Text } from "@mantine/core";
import { useContext } from "react";
import { useTranslation } from "react-i18next";
import { isPlayerId, type PlayerRef } from "../player-ref.ts";
import { usePlayerLink } from "../state/open-player.ts";
import { BriefContext } from "./brief.ts";
import { CopyButton } from "./copy-button.tsx";
import { cutText, GameText, MarkedText, markInvisible, WholeText } from "./game-text.tsx";
import { Icon } from "./icon.tsx";

/** How much of a name is in the label of its copy button. */
const SPOKEN_MAX = 30;
/** How much of a name a link shows. */
const LINK_MAX = 48;

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
      {name === "" && unknown !== null && (
        <Text component="span" size="sm" c="dimmed">
          {unknown}
        </Text>
      )}
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
      <Text component="span" size="sm" fw={600}>
        <GameText text={name} max={max} />
      </Text>
    );
  }
  const { text, isCut } = cutText(name, max);
  return (
    <span className="game-text-cut">
      <Anchor
        size="sm"
        fw={600}
        miw={0}
        {...(props.href === undefined ? linkTo({ name: name === id ? "" : name, id }) : { href: props.href })}
      >
        <bdi className="game-text">
          <MarkedText text={text} />
          {isCut && isBrief && "…"}
        </bdi>
      </Anchor>
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
