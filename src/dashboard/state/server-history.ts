// What the page has seen of a server since it was opened: one point for each reading, as many as there is room for.
import type { JoinLog } from "../../core/wire/server-info.ts";
import type { ServerState } from "../api/caller.ts";

export type HistoryPoint = {
  /** When the data was true, in epoch milliseconds. */
  readonly at: number;
  readonly players: number;
  /** Undefined when the key may not read the queue. */
  readonly queue: number | undefined;
  /** Since the point before; undefined when the key may not read the log of joins. */
  readonly joins: number | undefined;
  readonly leaves: number | undefined;
};

/** Six hours at one reading every five seconds. When it is full, the oldest go. */
export const HISTORY_POINTS_MAX = 4_320;

export class ServerHistory {
  #points: readonly HistoryPoint[] = [];
  #seen: ReadonlySet<string> | undefined;

  get points(): readonly HistoryPoint[] {
    return this.#points;
  }

  note(state: ServerState, at: number): void {
    const last = this.#points.at(-1);
    if (last && at <= last.at) return;
    const { joins, leaves } = this.#countMoves(state.JoinLogs);
    const point = { at, players: state.CurrentPlayers, queue: state.Queue?.length, joins, leaves };
    this.#points = [...this.#points.slice(-(HISTORY_POINTS_MAX - 1)), point];
  }

  #countMoves(log: readonly JoinLog[] | undefined): Pick<HistoryPoint, "joins" | "leaves"> {
    if (!log) return { joins: undefined, leaves: undefined };
    const before = this.#seen;
    this.#seen = new Set(log.map(nameOf));
    // What was in the log when the page was opened happened earlier.
    const fresh = before ? log.filter((entry) => !before.has(nameOf(entry))) : [];
    const joins = fresh.filter(({ Join }) => Join === true).length;
    return { joins, leaves: fresh.length - joins };
  }
}

function nameOf({ Join, Timestamp, Player }: JoinLog): string {
  return `${Timestamp} ${Join} ${Player}`;
}
