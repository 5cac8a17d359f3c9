// The Russian texts of the operator's views, one namespace for each. They are loaded for operators only.
import type { operatorEn } from "./operator-en.ts";
import { operator, operatorAudit, operatorBlocks, operatorCommands, operatorReasons } from "./ru/operator.ts";
import { operatorHealth } from "./ru/operator-health.ts";
import { operatorKeys } from "./ru/operator-keys.ts";
import { operatorPeople } from "./ru/operator-people.ts";
import { operatorServers } from "./ru/operator-servers.ts";
import { operatorWebhooks } from "./ru/operator-webhooks.ts";
import type { Translation } from "./translation.ts";

export const operatorRu: Translation<typeof operatorEn> = {
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
