// All English text, one namespace for each view and each part of the frame.
import { activity } from "./en/activity.ts";
import { alerts } from "./en/alerts.ts";
import { calls } from "./en/calls.ts";
import { commands } from "./en/commands.ts";
import { fleet } from "./en/fleet.ts";
import { keyboard } from "./en/keyboard.ts";
import { live } from "./en/live.ts";
import { logs } from "./en/logs.ts";
import { map } from "./en/map.ts";
import { operatorAudit } from "./en/operator-audit.ts";
import { operatorBlocks } from "./en/operator-blocks.ts";
import { operatorCommands } from "./en/operator-commands.ts";
import { operatorHealth } from "./en/operator-health.ts";
import { operatorKeys } from "./en/operator-keys.ts";
import { operatorReasons } from "./en/operator-reasons.ts";
import { operatorServers } from "./en/operator-servers.ts";
import { operatorWebhooks } from "./en/operator-webhooks.ts";
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
  operatorAudit,
  operatorBlocks,
  operatorCommands,
  operatorHealth,
  operatorKeys,
  operatorReasons,
  operatorServers,
  operatorWebhooks,
  players,
  plots,
  shell,
  signIn,
  staff,
  status,
  table,
  vehicles,
};
