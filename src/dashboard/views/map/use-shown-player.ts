// Shows the player that a link to the map names: the parameter `show`. It is used once, so that the user can then look elsewhere.
import { useEffect, useRef } from "react";
import { SHOW_PARAMETER } from "../../state/open-player.ts";
import { dropRouteParameters, useRouteParameter } from "../../state/route.ts";
import type { Marker } from "./markers.ts";

/** Calls `show` with the key of the marker, as soon as the player is on the map. */
export function useShownPlayer(markers: readonly Marker[], show: (key: string) => void): void {
  const id = useRouteParameter(SHOW_PARAMETER);
  const latest = useRef(show);
  latest.current = show;
  useEffect(() => {
    const marker = markers.find((each) => each.kind === "player" && each.id !== undefined && each.id === id);
    if (!marker) return;
    latest.current(marker.key);
    dropRouteParameters();
  }, [markers, id]);
}
