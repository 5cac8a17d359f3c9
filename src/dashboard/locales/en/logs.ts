// English text of the view "logs".

export const logs = {
  title: "Logs",
  summary: "Joins, kills, commands and calls in one time line.",
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
  killed: "killed",
  noKiller: "Nobody in particular",
  answeredBy: "answered by",
  nobody: "nobody yet",
  today: "Today, {{day}}",
  yesterday: "Yesterday, {{day}}",
  unknownDay: "At an unknown time",
};
