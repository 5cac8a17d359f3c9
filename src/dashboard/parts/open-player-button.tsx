// The button that opens a player: what is known about them, and what can be done.
import { Button } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { PlayerRef } from "../player-ref.ts";
import { useViewHref } from "../state/route.ts";
import { cutText, MarkedText } from "./game-text.tsx";

const NAME_MAX = 20;

/** Nothing for a player without an id, who cannot be opened. The whole name is beside the button, so it may be cut. */
export function OpenPlayerButton({ player }: { readonly player: PlayerRef }) {
  const { t } = useTranslation("calls");
  const hrefOf = useViewHref();
  const { id } = player;
  if (id === undefined) return null;
  const { text, isCut } = cutText(player.name.trim() === "" ? id : player.name, NAME_MAX);
  return (
    <Button component="a" href={hrefOf(`activity/${id}`)} size="xs" variant="light" maw="100%">
      <span className="open-player">
        {t("moderator.open")}{" "}
        <bdi>
          <MarkedText text={text} />
          {isCut && "…"}
        </bdi>
      </span>
    </Button>
  );
}
