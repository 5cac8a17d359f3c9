// The view "plots", and everything else that shows the past of a server, in one lazy file: what several lazy files import would
// be loaded with the page.

import { history as en } from "../../locales/en/history.ts";
import { history as ru } from "../../locales/ru/history.ts";
import { addTexts } from "../../locales/translation.ts";

export { DaySparkline } from "../live/sparkline.tsx";
export { PlayerSessions } from "../player/player-sessions.tsx";
export { RecordFacts } from "../player/record-facts.tsx";
export { Playtime } from "../players/playtime.tsx";
export { StaffActivity } from "../staff/staff-activity.tsx";
export { PlotsView } from "./plots-view.tsx";

addTexts({ en: { history: en }, ru: { history: ru } });
