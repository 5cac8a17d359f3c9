// The view "plots", and everything else that shows the past of a server, in one lazy file: what several lazy files import would
// be loaded with the page.
export { PlayerSessions } from "./player/player-sessions.tsx";
export { Playtime } from "./players/playtime.tsx";
export { PlotsView } from "./plots/plots-view.tsx";
export { StaffActivity } from "./staff/staff-activity.tsx";
