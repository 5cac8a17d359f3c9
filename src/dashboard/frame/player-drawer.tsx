// The drawer of a player, over every view: a panel at the side, on a phone a sheet that fills the screen. What it shows is
// loaded when it is first opened.
import { Drawer, useMatches } from "@mantine/core";
import { useRef } from "react";
import { useTranslation } from "react-i18next";
import { useEscape } from "../parts/dialog.tsx";
import { ErrorBoundary, LazyView, type LoadView } from "../parts/lazy-view.tsx";
import { closePlayer, PlayerIdContext, useOpenPlayer } from "../state/open-player.ts";

const WIDTH = "30rem";
/** Two columns of the record fit beside each other. */
const WIDE = "57rem";
/** Over the title, which leaves room for it. */
const CLOSE_STYLE = { insetInlineEnd: "0.75rem", zIndex: 1 };
const loadDetails: LoadView = async () => (await import("../views/player/player-details.tsx")).PlayerDetails;

export function PlayerDrawer() {
  const { t } = useTranslation("shell");
  const id = useOpenPlayer();
  const last = useRef("");
  // The player stays while the closed drawer slides out.
  if (id !== undefined) last.current = id;
  const size = useMatches({ base: "100%", sm: WIDTH, md: WIDE });
  useEscape(id !== undefined, closePlayer);
  return (
    <Drawer.Root opened={id !== undefined} onClose={closePlayer} closeOnEscape={false} position="right" size={size}>
      <Drawer.Overlay />
      <Drawer.Content className="player-drawer">
        <Drawer.CloseButton size="lg" aria-label={t("close")} pos="absolute" top="0.75rem" style={CLOSE_STYLE} />
        <Drawer.Body pt="md">
          <PlayerIdContext value={last.current}>
            <ErrorBoundary key={last.current}>
              <LazyView load={loadDetails} />
            </ErrorBoundary>
          </PlayerIdContext>
        </Drawer.Body>
      </Drawer.Content>
    </Drawer.Root>
  );
}
