// Everything that shows the past of a server, in one file that is loaded when the first of them is. What several lazy files
// import would be loaded with the page.
export { PlayerSessions } from "../player/player-sessions.tsx";
export { Playtime } from "../players/playtime.tsx";
export { PlotsView } from "../plots/plots-view.tsx";
export { StaffActivity } from "../staff/staff-activity.tsx";
