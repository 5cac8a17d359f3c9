// Merges four logs into one time line, newest first.
import type { ServerState } from "../../api/caller.ts";
import { toMs } from "../../parts/text/time.tsx";

export const KINDS = ["join", "leave", "kill", "command", "modCall"] as const;
export type Kind = (typeof KINDS)[number];

export type LogEntry = {
  readonly kind: Kind;
  readonly seconds: number | undefined;
  /** In epoch milliseconds; undefined when the game sent no valid time. */
  readonly at: number | undefined;
  /** Who did it. */
  readonly player: string | undefined;
  /** Who was killed, or who answered a call. */
  readonly other: string | undefined;
  readonly command: string | undefined;
  /** The texts that the search looks at. */
  readonly texts: readonly (string | undefined)[];
  readonly key: string;
};

/** A field that is missing is undefined. `id` is that of the event, where there is one. */
type Draft = Pick<LogEntry, "kind"> & {
  readonly [Name in "player" | "other" | "command" | "id"]?: string | undefined;
} & { readonly seconds?: number | undefined };

export function listEntries(
  state: Pick<ServerState, "JoinLogs" | "KillLogs" | "CommandLogs" | "ModCalls">,
): readonly LogEntry[] {
  const { JoinLogs = [], KillLogs = [], CommandLogs = [], ModCalls = [] } = state;
  const entries = [
    ...JoinLogs.map(({ Join, Timestamp, Player }) =>
      makeEntry({ kind: Join === false ? "leave" : "join", seconds: Timestamp, player: Player }),
    ),
    ...KillLogs.map(({ Killed, Killer, Timestamp }) =>
      makeEntry({ kind: "kill", seconds: Timestamp, player: Killer, other: Killed }),
    ),
    ...CommandLogs.map(({ Player, Command, Timestamp }) =>
      makeEntry({ kind: "command", seconds: Timestamp, player: Player, command: Command }),
    ),
    ...ModCalls.map(({ Caller, Moderator, Timestamp }) =>
      makeEntry({ kind: "modCall", seconds: Timestamp, player: Caller, other: Moderator ?? undefined }),
    ),
  ];
  // The sort is stable, so entries of the same second keep the order of the game. Entries without a time come last.
  return entries.sort((a, b) => (b.at ?? Number.NEGATIVE_INFINITY) - (a.at ?? Number.NEGATIVE_INFINITY) || 0);
}

export function makeEntry({ kind, seconds, player, other, command, id }: Draft): LogEntry {
  return {
    kind,
    seconds,
    at: toMs(seconds),
    player,
    other,
    command,
    texts: [player, other, command],
    key: id ?? `${kind} ${seconds} ${player} ${other} ${command}`,
  };
}

export type Day<Entry> = {
  /** The same when entries are added at either end. */
  readonly key: string;
  /** A time of the day in epoch milliseconds. */
  readonly at: number | undefined;
  readonly entries: readonly Entry[];
};

/** Groups by days in the user's time zone and keeps the order of the entries. */
export function groupByDay<Entry>(
  entries: readonly Entry[],
  timeOf: (entry: Entry) => number | undefined,
): readonly Day<Entry>[] {
  const days: { key: string; day: string | undefined; at: number | undefined; entries: Entry[] }[] = [];
  const parts = new Map<string | undefined, number>();
  for (const entry of entries) {
    const at = timeOf(entry);
    const day = at === undefined ? undefined : new Date(at).toDateString();
    const last = days.at(-1);
    if (last && last.day === day) last.entries.push(entry);
    else {
      // A day that an entry of another day interrupts has several parts.
      const part = (parts.get(day) ?? 0) + 1;
      parts.set(day, part);
      days.push({ key: `${day} ${part}`, day, at, entries: [entry] });
    }
  }
  return days;
}
