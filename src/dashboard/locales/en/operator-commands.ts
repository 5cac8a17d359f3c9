// English text of the view "operator-commands". The states of a command are in "commands".

export const operatorCommands = {
  title: "Commands",
  summary: "What waits for each server, and what became of the rest.",
  list: "Commands",
  server: "Server",
  everyServer: "All servers",
  status: "State",
  everyStatus: "Any state",
  empty: "No commands",
  emptyText: "Nothing found with this filter.",
  key: "Key",
  cancelTitle: "Cancel this command?",
  cancelText: "It waits to be sent to {{server}}. Whoever sent it sees that it was cancelled.",
  cancelAction: "Cancel the command",
  keepAction: "Keep it",
};
