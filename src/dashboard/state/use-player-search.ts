// Looks for players by name in the ledger, further back with each request of the user. The events are not shown.
import { useMemo, useState } from "react";
import type { EventResource } from "../../core/wire/event.ts";
import type { ApiError } from "../api/request.ts";
import { type EventList, SEARCHED_EVENTS_MAX } from "./event-pages.ts";
import { LedgerFeed } from "./ledger-feed.ts";
import { useServerSession } from "./session.ts";

export type PlayerSearch = {
  /** What was looked through; undefined before the first look. */
  readonly list: EventList | undefined;
  readonly error: ApiError | undefined;
  readonly isLooking: boolean;
  /** Looks further back for an event that fits. */
  readonly look: (fits: (event: EventResource) => boolean) => void;
};

/** `types` are those of the events that name players. */
export function usePlayerSearch(types: string): PlayerSearch {
  const { ledger, pace } = useServerSession();
  const feed = useMemo(
    () => new LedgerFeed(ledger, pace, { types }, undefined, SEARCHED_EVENTS_MAX),
    [ledger, pace, types],
  );
  const [state, setState] = useState<Omit<PlayerSearch, "look">>({
    list: undefined,
    error: undefined,
    isLooking: false,
  });

  async function look(fits: (event: EventResource) => boolean): Promise<void> {
    setState((last) => ({ ...last, isLooking: true }));
    let error = feed.list ? undefined : (await feed.poll()).error;
    if (!error && !feed.list?.events.some(fits)) error = await feed.loadOlder(fits);
    setState({ list: feed.list, error, isLooking: false });
  }

  return { ...state, look: (fits) => void look(fits) };
}
