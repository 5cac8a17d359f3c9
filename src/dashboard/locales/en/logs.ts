// English text of the view "logs".

export const logs = {
  title: "Logs",
  summary: "Joins, kills, commands and calls in one time line.",
  soFar_one: "{{count}} entry so far; older ones can be loaded",
  soFar_other: "{{count}} entries so far; older ones can be loaded",
  off: "Gatehouse does not record events, so only the newest entries are here, as the game shows them. An operator can change that with GATEHOUSE_ARCHIVE.",
  away: "The archive cannot be reached, so only the newest entries are here, as the game shows them. Older ones come back by themselves.",
  empty: "Nothing has been logged yet",
  kinds: "What to show",
  kind: {
    join: "Joins",
    leave: "Leaves",
    kill: "Kills",
    command: "Commands",
    modCall: "Calls for a moderator",
  },
  chip: "{{kind}} ({{n}})",
  label: { join: "Joined", leave: "Left", kill: "Kill", command: "Command", modCall: "Call for a moderator" },
  column: { time: "Time", kind: "What", player: "Player", details: "Details" },
  killed: "killed",
  noKiller: "An unknown cause",
  answeredBy: "answered by",
  nobody: "nobody yet",
  today: "Today, {{day}}",
  yesterday: "Yesterday, {{day}}",
  unknownDay: "At an unknown time",
};
