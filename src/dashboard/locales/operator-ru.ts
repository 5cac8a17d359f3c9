// The Russian texts of the operator's views, one namespace for each. They are loaded for operators only.
import type { operatorEn } from "./operator-en.ts";
import { operatorAudit } from "./ru/operator-audit.ts";
import { operatorBlocks } from "./ru/operator-blocks.ts";
import { operatorCommands } from "./ru/operator-commands.ts";
import { operatorHealth } from "./ru/operator-health.ts";
import { operatorKeys } from "./ru/operator-keys.ts";
import { operatorReasons } from "./ru/operator-reasons.ts";
import { operatorServers } from "./ru/operator-servers.ts";
import { operatorWebhooks } from "./ru/operator-webhooks.ts";
import type { Translation } from "./translation.ts";

export const operatorRu: Translation<typeof operatorEn> = {
  operatorAudit,
  operatorBlocks,
  operatorCommands,
  operatorHealth,
  operatorKeys,
  operatorReasons,
  operatorServers,
  operatorWebhooks,
};
