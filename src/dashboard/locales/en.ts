// The English texts of the page, one namespace for each view and each part of the frame. Those of the operator's views are in
// operator-en.ts.
import { activity } from "./en/activity.ts";
import { alerts } from "./en/alerts.ts";
import { calls } from "./en/calls.ts";
import { commands } from "./en/commands.ts";
import { fleet } from "./en/fleet.ts";
import { keyboard } from "./en/keyboard.ts";
import { live } from "./en/live.ts";
import { logs } from "./en/logs.ts";
import { map } from "./en/map.ts";
import { players } from "./en/players.ts";
import { plots } from "./en/plots.ts";
import { shell } from "./en/shell.ts";
import { signIn } from "./en/sign-in.ts";
import { staff } from "./en/staff.ts";
import { status } from "./en/status.ts";
import { table } from "./en/table.ts";
import { vehicles } from "./en/vehicles.ts";

export const en = {
  activity,
  alerts,
  calls,
  commands,
  fleet,
  keyboard,
  live,
  logs,
  map,
  players,
  plots,
  shell,
  signIn,
  staff,
  status,
  table,
  vehicles,
};
