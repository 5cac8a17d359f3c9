// The operations of operators about the rules of alerts.
import { SUGGESTED_ALERTS } from "../../core/alerts/rules.ts";
import { AlertRulesResource } from "../../core/wire/alerts.ts";
import type { Answer, Examples, Operation } from "./operation.ts";

const EXAMPLES: Examples = {
  suggested: { summary: "What suits most servers", value: SUGGESTED_ALERTS },
  players: {
    summary: "Fewer than 5 or more than 38 players for half an hour",
    value: { players: { below: 5, above: 38, minutes: 30 } },
  },
  off: { summary: "No alerts", value: {} },
};
const ANSWER: Answer = {
  description: "The rules. One that is absent is off.",
  headers: ["CacheControl"],
  schema: AlertRulesResource,
  examples: EXAMPLES,
};

type Rest = Pick<Operation, "description" | "body" | "parameters" | "answers" | "errors">;
type Describe = (id: string, summary: string, rest: Rest) => Operation;

/** `describe` adds what every operation of operators has. */
export function describeAlertOperations(describe: Describe): Readonly<Record<string, Operation>> {
  return {
    "GET /admin/servers/:id/alerts": describe("showAlertRules", "Show the rules of alerts", {
      answers: { 200: ANSWER },
      errors: ["notFound", "notConfigured"],
    }),
    "PUT /admin/servers/:id/alerts": describe("setAlertRules", "Set the rules of alerts", {
      description:
        "Replaces all rules: one that is absent is off, and all are off at first. A rule counts from now on; one that is changed or switched off while its alert is raised clears it. Alerts are the events `alert.raised` and `alert.cleared`, so streams and webhooks carry them. An alert is raised once until it clears.",
      body: { schema: AlertRulesResource, isRequired: true, examples: EXAMPLES },
      answers: { 200: ANSWER },
      errors: [
        "notFound",
        "invalidRequest",
        "invalidJson",
        "payloadTooLarge",
        "unsupportedMediaType",
        "notConfigured",
      ],
    }),
  };
}
