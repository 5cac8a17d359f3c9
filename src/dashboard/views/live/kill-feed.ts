// The kill feed: the newest kills first, with a mark where one player kills many. Pure.
import type { KillLog } from "../../../core/wire/server-info.ts";

export type FeedKill = {
  readonly key: string;
  readonly kill: KillLog;
  /** How many players the killer had killed within the time before, this one included; undefined when they are few. */
  readonly many: number | undefined;
};

/** In which time kills count as many, in the game's seconds. */
export const MANY_SECONDS = 60;
/** From so many on they are marked. */
export const MANY_KILLS = 3;

/** The game promises no order of its logs. */
export function listKills(kills: readonly KillLog[], max: number): readonly FeedKill[] {
  const newestFirst = kills.toSorted((a, b) => (b.Timestamp ?? 0) - (a.Timestamp ?? 0));
  const seen = new Map<string, number>();
  return newestFirst.slice(0, max).map((kill, index) => {
    const text = `${kill.Timestamp} ${kill.Killer} ${kill.Killed}`;
    const number = seen.get(text) ?? 0;
    seen.set(text, number + 1);
    return { key: `${text} ${number}`, kill, many: countBefore(newestFirst, index) };
  });
}

function countBefore(newestFirst: readonly KillLog[], index: number): number | undefined {
  const { Killer, Killed, Timestamp } = newestFirst[index] ?? {};
  if (!Killer || Killer === Killed || Timestamp === undefined) return undefined;
  let count = 0;
  for (const other of newestFirst.slice(index)) {
    if (Timestamp - (other.Timestamp ?? 0) >= MANY_SECONDS) break;
    if (other.Killer === Killer && other.Killed !== Killer) count++;
  }
  return count >= MANY_KILLS ? count : undefined;
}
