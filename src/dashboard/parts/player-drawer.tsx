// The drawer of a player, over every view: a panel at the side, on a phone a sheet that fills the screen. What it shows is
// loaded when it is first opened.
import { Drawer, useMatches } from "@mantine/core";
import { useRef } from "react";
import { useTranslation } from "react-i18next";
import { closePlayer, PlayerIdContext, useOpenPlayer } from "../state/open-player.ts";
import { ErrorBoundary } from "./error-boundary.tsx";
import { LazyView, type LoadView } from "./lazy-view.tsx";

const WIDTH = "30rem";
const loadDetails: LoadView = async () => (await import("../views/player/player-details.tsx")).PlayerDetails;

export function PlayerDrawer() {
  const { t } = useTranslation("shell");
  const id = useOpenPlayer();
  const last = useRef("");
  // The player stays while the closed drawer slides out.
  if (id !== undefined) last.current = id;
  const size = useMatches({ base: "100%", sm: WIDTH });
  return (
    <Drawer.Root opened={id !== undefined} onClose={closePlayer} position="right" size={size}>
      <Drawer.Overlay />
      <Drawer.Content className="player-drawer">
        <Drawer.CloseButton className="player-drawer-close" size="lg" aria-label={t("close")} />
        <Drawer.Body className="player-drawer-body">
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
