// English text of the view "calls".

export const calls = {
  title: "Calls",
  summary: "Emergency calls and calls for a moderator.",
  emergency: { title: "Emergency calls", empty: "There are no emergency calls" },
  moderator: {
    title: "Calls for a moderator",
    empty: "Nobody has called a moderator",
    nobody: "Nobody yet",
    state: "State",
    open: "Nobody yet",
    answered: "Answered",
  },
  column: {
    number: "Number",
    team: "Team",
    description: "What",
    place: "Where",
    caller: "Caller",
    players: "Taking part",
    started: "Started",
    moderator: "Moderator",
    time: "Time",
  },
  number: "No. {{n}}",
  notHere: "Not on the server",
  andMore: "and {{n}} more",
};
