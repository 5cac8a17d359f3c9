// The questions about the past of a server, and the sections that a key must be allowed to read for each.
import type { Section } from "../sections.ts";

/** Numbers of players name nobody: players and peaks need no section. */
export const NEEDED_SECTIONS = {
  players: [],
  peaks: [],
  sessions: ["Players", "JoinLogs"],
  playtime: ["Players", "JoinLogs"],
  staff: ["Staff", "Players", "CommandLogs", "ModCalls"],
} as const satisfies Record<string, readonly Section[]>;

export type HistoryQuestion = keyof typeof NEEDED_SECTIONS;
