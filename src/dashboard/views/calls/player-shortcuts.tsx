// What can be done about a player from a row of a list: follow them on the map, act on them below the row, open their page.
import { ActionIcon } from "@mantine/core";
import { createContext, useContext } from "react";
import { useTranslation } from "react-i18next";
import { Icon } from "../../parts/icon.tsx";
import { LazyView, type LoadView } from "../../parts/lazy-view.tsx";
import { cutText, markInvisible } from "../../parts/text/game-text.tsx";
import { OpenPlayerButton } from "../../parts/text/player-name.tsx";
import { isPlayerId, type PlayerRef } from "../../player-ref.ts";
import { SHOW_PARAMETER } from "../../state/open-player.ts";
import { useViewHref } from "../../state/route.ts";
import { useServerSession } from "../../state/session/session.ts";

const SPOKEN_MAX = 30;

type Props = {
  readonly player: PlayerRef;
  /** Whether the map can show them. */
  readonly isOnMap: boolean;
  readonly isActing: boolean;
  readonly onAct: (isActing: boolean) => void;
};

export function PlayerShortcuts({ player, isOnMap, isActing, onAct }: Props) {
  const { t } = useTranslation("calls");
  const hrefOf = useViewHref();
  const session = useServerSession();
  const { id } = player;
  if (id === undefined || !isPlayerId(id)) return null;
  const name = markInvisible(cutText(player.name.trim() || id, SPOKEN_MAX).text);
  const mayAct = session.kind === "caller" && session.mayCommand;
  return (
    <>
      {isOnMap && (
        <ActionIcon
          component="a"
          href={`${hrefOf("map")}?${SHOW_PARAMETER}=${id}`}
          variant="default"
          size={30}
          aria-label={t("moderator.follow", { name })}
          title={t("moderator.follow", { name })}
        >
          <Icon name="map" size={16} />
        </ActionIcon>
      )}
      {mayAct && (
        <ActionIcon
          variant={isActing ? "light" : "default"}
          size={30}
          aria-label={t("moderator.act", { name })}
          title={t("moderator.act", { name })}
          aria-expanded={isActing}
          onClick={() => onAct(!isActing)}
        >
          <Icon name="chat" size={16} />
        </ActionIcon>
      )}
      <OpenPlayerButton player={player} />
    </>
  );
}

/**
 * How the code of the commands is loaded. The views give it, because what several views share is loaded with the page, and
 * must not lead to files that are loaded later.
 */
export const LoadActContext = createContext<LoadView<{ readonly player: PlayerRef }> | undefined>(undefined);

/** Messages and other commands for the player, below the row. Loaded when it is first opened. */
export function PlayerAct({ player }: { readonly player: PlayerRef }) {
  const load = useContext(LoadActContext);
  return load && <LazyView load={load} given={{ player }} placeholder={null} />;
}
