// Where players were killed in the last minute. The log of kills has no positions, so the page remembers where everybody was in
// the reading before.
import type { ServerState } from "../../api/caller.ts";
import { type PlayerRef, parsePlayerRef } from "../../player-ref.ts";
import { KILL_STEP_MS, KILL_STEPS, type KillMark, readPoint } from "./markers.ts";
import type { Point } from "./viewport.ts";

const SHOWN_MS = KILL_STEP_MS * KILL_STEPS;
/** The newest are kept. */
export const KILL_MARKS_MAX = 60;
const KEY_LENGTH_MAX = 80;

/** Remembers the places of one page; `read` is called with every reading. */
export class KillMarks {
  #places: ReadonlyMap<string, Point> = new Map();
  #marks: readonly KillMark[] = [];
  #last: ServerState | undefined;

  /** The marks at this time, oldest first; the same list when nothing has changed. */
  read(state: ServerState, now: number): readonly KillMark[] {
    if (state !== this.#last) this.#note(state, now);
    const fresh = this.#marks.filter(({ at }) => isFresh(at, now));
    if (fresh.length < this.#marks.length) this.#marks = fresh;
    return this.#marks;
  }

  #note(state: ServerState, now: number): void {
    this.#last = state;
    const before = this.#places;
    this.#places = findPlaces(state, before);
    const known = new Set(this.#marks.map(({ key }) => key));
    const added = (state.KillLogs ?? []).flatMap(({ Killed, Killer, Timestamp }): KillMark[] => {
      const at = typeof Timestamp === "number" ? Timestamp * 1000 : Number.NaN;
      if (!isFresh(at, now)) return [];
      const killed = parsePlayerRef(Killed);
      const killer = Killer ? parsePlayerRef(Killer) : undefined;
      const key = `kill ${at} ${killed.id ?? killed.name} ${killer?.id}`.slice(0, KEY_LENGTH_MAX);
      if (known.has(key)) return [];
      // A killed player is soon somewhere else, so the reading before counts more than where they are now.
      const point =
        find(before, killed) ?? find(this.#places, killer) ?? find(before, killer) ?? find(this.#places, killed);
      if (!point) return [];
      known.add(key);
      return [{ x: point.x, y: point.y, key, killed, killer, at }];
    });
    if (added.length === 0) return;
    this.#marks = [...this.#marks, ...added].sort((a, b) => a.at - b.at).slice(-KILL_MARKS_MAX);
  }
}

/** The clock of the game may be ahead. */
function isFresh(at: number, now: number): boolean {
  return Math.abs(now - at) < SHOWN_MS;
}

/** Where everybody on the server is, or was when last seen on the map. */
function findPlaces({ Players = [] }: ServerState, before: ReadonlyMap<string, Point>): ReadonlyMap<string, Point> {
  const places = new Map<string, Point>();
  for (const { Player, Location } of Players) {
    const { id } = parsePlayerRef(Player);
    const point = id === undefined ? undefined : (readPoint(Location) ?? before.get(id));
    if (id !== undefined && point) places.set(id, point);
  }
  return places;
}

function find(places: ReadonlyMap<string, Point>, player: PlayerRef | undefined): Point | undefined {
  return player?.id === undefined ? undefined : places.get(player.id);
}
