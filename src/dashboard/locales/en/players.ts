// English text of the view "players".

export const players = {
  title: "Players",
  summary: "Everybody on the server.",
  playtime: "Playtime",
  playtimeSummary: "Who plays most.",
  empty: "Nobody is on the server",
  column: {
    name: "Name",
    id: "Id",
    team: "Team",
    callsign: "Callsign",
    permission: "Permission",
    wanted: "Wanted",
    place: "Place",
  },
  permission: {
    Normal: "Normal",
    "Server Helper": "Helper",
    "Server Moderator": "Moderator",
    "Server Administrator": "Administrator",
    "Server Co-Owner": "Co-owner",
    "Server Owner": "Owner",
  },
  stars: "Wanted stars: {{n}}",
};
