// The readings of a server since the page was opened, one point each, up to a maximum.
import type { JoinLog } from "../../../core/wire/server-info.ts";
import type { ServerState } from "../../api/caller.ts";

export type HistoryPoint = {
  /** The time of the data, in epoch milliseconds. */
  readonly at: number;
  readonly players: number;
  /** Undefined when the key may not read the queue. */
  readonly queue: number | undefined;
  /** Since the previous point; undefined when the key may not read the join log. */
  readonly joins: number | undefined;
  readonly leaves: number | undefined;
};

/** Six hours at one reading every five seconds. Beyond that, the oldest points are dropped. */
export const HISTORY_POINTS_MAX = 4_320;

/** An unchanged state that comes sooner is the same reading, asked for again because of an event. */
export const SAME_READING_MS = 2_000;

export class ServerHistory {
  #points: readonly HistoryPoint[] = [];
  #lastState: ServerState | undefined;
  #seen: ReadonlySet<string> | undefined;

  get points(): readonly HistoryPoint[] {
    return this.#points;
  }

  record(state: ServerState, at: number): void {
    const last = this.#points.at(-1);
    if (last && at <= last.at) return;
    if (last && state === this.#lastState && at - last.at < SAME_READING_MS) return;
    this.#lastState = state;
    const { joins, leaves } = this.#countMoves(state.JoinLogs);
    const point = { at, players: state.CurrentPlayers, queue: state.Queue?.length, joins, leaves };
    this.#points = [...this.#points.slice(-(HISTORY_POINTS_MAX - 1)), point];
  }

  #countMoves(log: readonly JoinLog[] | undefined): Pick<HistoryPoint, "joins" | "leaves"> {
    if (!log) return { joins: undefined, leaves: undefined };
    const before = this.#seen;
    this.#seen = new Set(log.map(keyOf));
    // The entries of the first reading happened before the page was opened.
    const fresh = before ? log.filter((entry) => !before.has(keyOf(entry))) : [];
    const joins = fresh.filter(({ Join }) => Join === true).length;
    return { joins, leaves: fresh.length - joins };
  }
}

function keyOf({ Join, Timestamp, Player }: JoinLog): string {
  return `${Timestamp} ${Join} ${Player}`;
}
