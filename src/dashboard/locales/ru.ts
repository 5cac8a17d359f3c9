// All Russian text, one namespace for each view and each part of the frame.
import type { en } from "./en.ts";
import { activity } from "./ru/activity.ts";
import { alerts } from "./ru/alerts.ts";
import { calls } from "./ru/calls.ts";
import { commands } from "./ru/commands.ts";
import { fleet } from "./ru/fleet.ts";
import { keyboard } from "./ru/keyboard.ts";
import { live } from "./ru/live.ts";
import { logs } from "./ru/logs.ts";
import { map } from "./ru/map.ts";
import { operatorAudit } from "./ru/operator-audit.ts";
import { operatorBlocks } from "./ru/operator-blocks.ts";
import { operatorCommands } from "./ru/operator-commands.ts";
import { operatorHealth } from "./ru/operator-health.ts";
import { operatorKeys } from "./ru/operator-keys.ts";
import { operatorReasons } from "./ru/operator-reasons.ts";
import { operatorServers } from "./ru/operator-servers.ts";
import { operatorWebhooks } from "./ru/operator-webhooks.ts";
import { players } from "./ru/players.ts";
import { plots } from "./ru/plots.ts";
import { shell } from "./ru/shell.ts";
import { signIn } from "./ru/sign-in.ts";
import { staff } from "./ru/staff.ts";
import { status } from "./ru/status.ts";
import { table } from "./ru/table.ts";
import { vehicles } from "./ru/vehicles.ts";
import type { Translation } from "./translation.ts";

export const ru: Translation<typeof en> = {
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
