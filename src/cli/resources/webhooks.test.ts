// How webhooks and deliveries are shown to an operator: everything fits a terminal of 80 columns, reasons are told.
import { expect, test } from "bun:test";
import type { DeliveryResource, WebhookResource } from "../../core/wire/webhook.ts";
import { printResources } from "../terminal/fields.ts";
import { Printer } from "../terminal/printer.ts";
import { DELIVERY_FIELDS, printWebhooks } from "./webhooks.ts";

const NOW = 1_800_000_000_000;
const WEBHOOK: WebhookResource = {
  webhook_id: "hook_3uGk8sYc2RzNqT5vBw1x",
  server_id: "srv_5tqX0PpV3mYbL1nKcD7w",
  label: "#mod-log of the second server, with everything in it",
  url: "https://discord.test/api",
  format: "discord-status",
  types: null,
  language: "en",
  show_join_key: false,
  enabled: true,
  disabled_reason: null,
  disabled_code: null,
  created_at: NOW - 86_400_000,
  last_success_at: NOW - 60_000,
  last_failure_at: null,
  waiting: 3,
};

function show(print: (screen: { printer: Printer; now: () => number }) => void): string[] {
  let text = "";
  const write = (more: string) => {
    text += more;
  };
  print({ printer: new Printer({ write, width: 80, hasColours: false }), now: () => NOW });
  return text.trimEnd().split("\n");
}

test("a list says which webhooks fail, which are disabled and why", () => {
  const failing = { ...WEBHOOK, label: "failing", last_failure_at: NOW - 1_000, waiting: 10_000 };
  const gone = "Discord does not know this webhook: it was deleted there.";
  const disabled = { ...WEBHOOK, label: "gone\u001b[2J", enabled: false, disabled_reason: gone };
  const names = new Map([[WEBHOOK.server_id, "Cedar County"]]);
  const lines = show((screen) => printWebhooks(screen, [WEBHOOK, failing, disabled], names, false));
  expect(lines.every((line) => Bun.stringWidth(line) <= 80)).toBe(true);
  expect(lines[0]).toMatch(/^LABEL +SERVER +FORMAT +STATE +WAITING +LAST SUCCESS$/);
  expect(lines[1]).toMatch(/^#mod.*… +Ced.* +discord-status +enabled +3 +\d/);
  expect(lines[2]).toMatch(/failing +10000 or more/);
  expect(lines[3]).toContain("disabled");
  expect(lines.slice(4).join("\n")).toMatch(/gone\\x1b\[2J +Discord does not know/);
});

test("deliveries tell status, duration, events and error in one line each", () => {
  const first: DeliveryResource = {
    at: NOW - 5_000,
    event_ids: ["AAAAAAGJh1xvK2m3x5XmQm1c", "AAAAAAGJh1xvK2m3x5XmQm1d"],
    status: 200,
    duration_ms: 182,
    error: null,
    error_code: null,
  };
  const second = { ...first, event_ids: [], status: null, error: "timeout" };
  const lines = show((screen) => printResources(screen, DELIVERY_FIELDS, [first, second]));
  expect(lines.every((line) => Bun.stringWidth(line) <= 80)).toBe(true);
  expect(lines[1]).toMatch(/ 200 +182 ms +AAAAAAGJh1xvK2m3x5XmQm1c and 1 more +-$/);
  expect(lines[2]).toMatch(/ none +182 ms +- +timeout$/);
});
