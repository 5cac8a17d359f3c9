// The button that opens a player's drawer from a call that waits.
import { Button } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { isPlayerId, type PlayerRef } from "../player-ref.ts";
import { usePlayerLink } from "../state/open-player.ts";
import { cutText, MarkedText } from "./game-text.tsx";

const NAME_MAX = 20;

/** Nothing for a player without an id, who cannot be opened. The whole name is beside the button, so it may be cut. */
export function OpenPlayerButton({ player }: { readonly player: PlayerRef }) {
  const { t } = useTranslation("calls");
  const linkTo = usePlayerLink();
  const { name, id } = player;
  if (id === undefined || !isPlayerId(id)) return null;
  const { text, isCut } = cutText(name.trim() === "" ? id : name, NAME_MAX);
  return (
    <Button component="a" {...linkTo({ name, id })} size="xs" variant="light" maw="100%">
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
