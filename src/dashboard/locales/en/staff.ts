// English text of the view "staff".

export const staff = {
  title: "Staff",
  summary: "Administrators, moderators and helpers.",
  activity: "Activity",
  activitySummary: "Who was there, for how long, and what they did.",
  empty: "The server has no staff",
  column: { name: "Name", id: "Id", role: "Role", here: "On the server" },
  role: { Admins: "Administrator", Mods: "Moderator", Helpers: "Helper" },
  here: "Here",
  away: "Away",
};
