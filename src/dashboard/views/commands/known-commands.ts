// The common commands of the game, what each of them takes, and which are hard to undo. The game has more commands, and the
// user can send any.

/** `players`: on the server. `users`: also somebody who is not on it. `banned`: nobody on it. A list has the usual choices. */
export type Argument = TargetKind | readonly string[];
export type TargetKind = "players" | "users" | "banned";

/** Each command with what its arguments may be. */
const ARGUMENTS = {
  h: [],
  m: [],
  pm: ["players"],
  kick: ["players"],
  ban: ["users"],
  unban: ["banned"],
  wanted: ["players"],
  unwanted: ["players"],
  jail: ["players"],
  unjail: ["players"],
  tp: ["players", "players"],
  bring: ["players"],
  respawn: ["players"],
  heal: ["players"],
  load: ["players"],
  refresh: ["players"],
  kill: ["players"],
  weather: [["clear", "rain", "thunderstorm", "fog", "snow"]],
  time: [["6", "12", "18", "0"]],
  priority: [["300", "600", "0"]],
  peacetimer: [["300", "600", "0"]],
  startfire: [["house", "brush", "nearhouse"]],
  stopfire: [],
  mod: ["users"],
  unmod: ["users"],
  admin: ["users"],
  unadmin: ["users"],
  helper: ["users"],
  unhelper: ["users"],
  shutdown: [],
} as const satisfies Record<string, readonly Argument[]>;

export type KnownCommand = keyof typeof ARGUMENTS;
export const KNOWN_COMMANDS = Object.keys(ARGUMENTS) as KnownCommand[];

const WITHOUT_ARGUMENTS = [
  ...["log", "logs", "cmds", "commands", "bans", "admins", "administrators", "mods", "moderators", "helpers"],
  ...["permissions", "kills", "killlogs", "kl", "leaderboards"],
];

/** Other names of these commands, and commands that are too rare to be suggested. */
const OTHER_ARGUMENTS: Readonly<Record<string, readonly Argument[]>> = {
  hint: ARGUMENTS.h,
  message: ARGUMENTS.m,
  privatemessage: ARGUMENTS.pm,
  teleport: ARGUMENTS.tp,
  prty: ARGUMENTS.priority,
  pt: ARGUMENTS.peacetimer,
  reset: ARGUMENTS.refresh,
  to: ["players"],
  view: ["players"],
  tocar: ["players"],
  toatv: ["players"],
  startnearfire: ARGUMENTS.startfire,
  ...Object.fromEntries(WITHOUT_ARGUMENTS.map((name) => [name, []])),
};

const RANKS = ["admin", "mod", "helper"];
const HARD_TO_UNDO: ReadonlySet<string> = new Set(["ban", "shutdown", ...RANKS, ...RANKS.map((rank) => `un${rank}`)]);

/** What a command takes, by its name without the colon. Undefined for a command that is not known here. */
export function findArguments(name: string): readonly Argument[] | undefined {
  const key = name.toLowerCase();
  if (Object.hasOwn(ARGUMENTS, key)) return ARGUMENTS[key as KnownCommand];
  return Object.hasOwn(OTHER_ARGUMENTS, key) ? OTHER_ARGUMENTS[key] : undefined;
}

/** Whether the command needs a confirmation for any target. */
export function isHardToUndo(name: string): boolean {
  return HARD_TO_UNDO.has(name.toLowerCase());
}
