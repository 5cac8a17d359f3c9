// The Russian texts that are loaded with the page, one namespace for each view and each part of the frame.
import type { en } from "../en/page.ts";
import type { Translation } from "../translation.ts";
import { commands } from "./commands.ts";
import * as events from "./events.ts";
import * as frame from "./frame.ts";
import * as server from "./server.ts";

export const ru: Translation<typeof en> = { commands, ...events, ...frame, ...server };
