// The four log lists of the game API, and what a town keeps of one entry in each.

export const LOG_LISTS = ["JoinLogs", "KillLogs", "CommandLogs", "ModCalls"] as const;
export type LogList = (typeof LOG_LISTS)[number];

/** How many entries a list can show. */
export const LOG_WINDOW_MAX = 10_000;

/** The limits of the simulator's options. The command line checks them before it loads the simulator. */
export const PLAYERS_MAX = 500;
export const LIMIT_MAX = 1_000_000_000;
export const SPEED_MIN = 0.001;
export const SPEED_MAX = 1_000_000;

export type JoinEntry = { at: number; join: boolean; player: string };
/** `killer` is null when no player was the killer. */
export type KillEntry = { at: number; killed: string; killer: string | null };
/** `player` is null for a command that came through the API. */
export type CommandEntry = { at: number; player: string | null; text: string };
export type ModCall = { at: number; caller: string; moderator: string | null; answerAt: number | null };

export type LogEntries = { JoinLogs: JoinEntry; KillLogs: KillEntry; CommandLogs: CommandEntry; ModCalls: ModCall };

/** An entry together with the list that it belongs to. */
export type LoggedEntry<L extends LogList = LogList> = { [K in L]: { list: K; entry: LogEntries[K] } }[L];
