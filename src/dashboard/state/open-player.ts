// The player whose drawer is open: the parameter `player` of the address, so that it survives a reload and can be passed on.
// Opening a drawer adds an entry to the history, so that the back button of a phone closes it.
import { createContext, type MouseEvent } from "react";
import { isPlayerId, type PlayerRef } from "../player-ref.ts";
import {
  dropRouteParameters,
  hrefOf,
  notifyRoute,
  readRoute,
  readRouteParameter,
  useRoute,
  useRouteParameter,
} from "./route.ts";

const PARAMETER = "player";
/** The parameter of the map with the id of the player to show there. */
export const SHOW_PARAMETER = "show";

/** What the entry of the history knows about an open drawer. */
type Entry = {
  /** The name that the link showed, for a player of whom nothing else tells it. */
  readonly playerName: string;
  /** Whether the entry before it is the same view without the drawer. */
  readonly canGoBack: boolean;
};

let isGoingBack = false;

/** The id of the player in the drawer, which stays while the closed drawer slides out. */
export const PlayerIdContext = createContext("");

/** The id of the player; undefined when no drawer is open. */
export function useOpenPlayer(): string | undefined {
  return toId(useRouteParameter(PARAMETER));
}

export type OpenablePlayer = PlayerRef & { readonly id: string };

/** Makes the properties of a link that opens the player over the view that is open now. */
export function usePlayerLink() {
  const route = useRoute();
  return (player: OpenablePlayer) => ({
    href: writeHref(route, player.id),
    "aria-haspopup": "dialog" as const,
    onClick(event: MouseEvent): void {
      // Other clicks open a tab or a window, as with every link.
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      openPlayer(player);
    },
  });
}

export function openPlayer({ id, name }: OpenablePlayer): void {
  const isOpen = toId(readRouteParameter(PARAMETER)) !== undefined;
  const entry: Entry = { playerName: name, canGoBack: isOpen ? readEntry().canGoBack : true };
  const href = writeHref(readRoute(), id);
  if (isOpen) history.replaceState(entry, "", href);
  else history.pushState(entry, "", href);
  notifyRoute();
}

export function closePlayer(): void {
  if (!readEntry().canGoBack) {
    dropRouteParameters();
    return;
  }
  // Going back takes a moment; a second step would leave the view.
  if (isGoingBack) return;
  isGoingBack = true;
  addEventListener("popstate", () => (isGoingBack = false), { once: true });
  history.back();
}

/** The name that the link to the open player showed; empty when there was none. */
export function readLinkedName(): string {
  return readEntry().playerName;
}

function readEntry(): Entry {
  const state: unknown = history.state;
  const { playerName, canGoBack } = (typeof state === "object" && state !== null ? state : {}) as Partial<Entry>;
  return { playerName: typeof playerName === "string" ? playerName : "", canGoBack: canGoBack === true };
}

function writeHref(route: string, id: string): string {
  return `${hrefOf(route)}?${PARAMETER}=${id}`;
}

function toId(text: string | undefined): string | undefined {
  return text !== undefined && isPlayerId(text) ? text : undefined;
}
