// Which calls for a moderator this user has marked as seen, by server: how the marks are read, changed and written. Pure.
import { DAY_MS } from "../../core/durations.ts";

/** When each call was marked, by the key of the call. */
export type SeenMarks = ReadonlyMap<string, number>;
export type SeenCalls = ReadonlyMap<string, SeenMarks>;

/** The game no longer lists a call long before this. */
export const MARK_AGE_MAX_MS = 7 * DAY_MS;
/** The oldest marks are deleted first. */
export const MARKS_MAX = 200;
/** The servers with the oldest marks are deleted first. */
export const SERVERS_MAX = 20;
const KEY_LENGTH_MAX = 200;
/** A longer text was not written by this page. */
const TEXT_LENGTH_MAX = SERVERS_MAX * MARKS_MAX * (KEY_LENGTH_MAX + 50);

/** `text` may be anything: another page of this host, or the user, may have written it. What is not a mark is left out. */
export function parseSeenCalls(text: string | null, now: number): SeenCalls {
  if (text === null || text.length > TEXT_LENGTH_MAX) return new Map();
  let stored: unknown;
  try {
    stored = JSON.parse(text);
  } catch {
    return new Map();
  }
  const servers = entriesOf(stored).map(([serverId, marks]) => [serverId, parseMarks(marks, now)] as const);
  return prune(new Map(servers), now);
}

function parseMarks(stored: unknown, now: number): SeenMarks {
  return new Map(
    entriesOf(stored).flatMap(([key, at]) =>
      // A mark from the future would never become old.
      typeof at === "number" && Number.isFinite(at) ? [[key, Math.min(at, now)] as const] : [],
    ),
  );
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
  return Object.entries(value).filter(([key]) => key.length <= KEY_LENGTH_MAX);
}

export function writeSeenCalls(seen: SeenCalls): string {
  return JSON.stringify(
    Object.fromEntries(Array.from(seen, ([serverId, marks]) => [serverId, Object.fromEntries(marks)])),
  );
}

/** Marks calls of a server, or removes their marks. */
export function changeSeenCalls(
  seen: SeenCalls,
  change: { readonly serverId: string; readonly keys: readonly string[]; readonly isSeen: boolean },
  now: number,
): SeenCalls {
  const { serverId, keys, isSeen } = change;
  const marks = new Map(seen.get(serverId));
  for (const key of keys) {
    marks.delete(key);
    if (isSeen) marks.set(key, now);
  }
  return prune(new Map(seen).set(serverId, marks), now);
}

/** Keeps the newest marks, and the servers with the newest marks. */
function prune(seen: SeenCalls, now: number): SeenCalls {
  const servers = Array.from(seen, ([serverId, marks]) => {
    const kept = Array.from(marks)
      .filter(([key, at]) => key.length <= KEY_LENGTH_MAX && now - at <= MARK_AGE_MAX_MS)
      .sort(([, a], [, b]) => b - a)
      .slice(0, MARKS_MAX);
    return { serverId, kept };
  });
  return new Map(
    servers
      .filter(({ kept }) => kept.length > 0)
      .sort((a, b) => (b.kept[0]?.[1] ?? 0) - (a.kept[0]?.[1] ?? 0))
      .slice(0, SERVERS_MAX)
      .map(({ serverId, kept }) => [serverId, new Map(kept)]),
  );
}
