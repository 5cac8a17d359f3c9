// The English texts of the operator's views, one namespace for each. They are loaded for operators only.
import { operatorAudit } from "./en/operator-audit.ts";
import { operatorBlocks } from "./en/operator-blocks.ts";
import { operatorCommands } from "./en/operator-commands.ts";
import { operatorHealth } from "./en/operator-health.ts";
import { operatorKeys } from "./en/operator-keys.ts";
import { operatorReasons } from "./en/operator-reasons.ts";
import { operatorServers } from "./en/operator-servers.ts";
import { operatorWebhooks } from "./en/operator-webhooks.ts";

export const operatorEn = {
  operatorAudit,
  operatorBlocks,
  operatorCommands,
  operatorHealth,
  operatorKeys,
  operatorReasons,
  operatorServers,
  operatorWebhooks,
};
