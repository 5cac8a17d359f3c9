// The English texts of the operator's views, one namespace for each. They are loaded for operators only.
import { operator, operatorAudit, operatorBlocks, operatorCommands, operatorReasons } from "./en/operator.ts";
import { operatorHealth } from "./en/operator-health.ts";
import { operatorKeys } from "./en/operator-keys.ts";
import { operatorPeople } from "./en/operator-people.ts";
import { operatorServers } from "./en/operator-servers.ts";
import { operatorWebhooks } from "./en/operator-webhooks.ts";

export const operatorEn = {
  operator,
  operatorAudit,
  operatorBlocks,
  operatorCommands,
  operatorHealth,
  operatorKeys,
  operatorPeople,
  operatorReasons,
  operatorServers,
  operatorWebhooks,
};
