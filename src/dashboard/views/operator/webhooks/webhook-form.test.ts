import { expect, test } from "bun:test";
import type { WebhookResource } from "../../../../core/wire/webhook.ts";
import { listChanges } from "../form.tsx";
import { startValues, toBody, toFormValues, type WebhookFormValues } from "./webhook-form.tsx";

const WEBHOOK: WebhookResource = {
  webhook_id: "hook_1",
  server_id: "srv_1",
  label: "Moderators",
  url: "https://discord.com/api",
  format: "discord",
  types: ["modcall.*", "player.killed"],
  language: "ru",
  show_join_key: false,
  enabled: true,
  disabled_reason: null,
  disabled_code: null,
  created_at: 0,
  last_success_at: null,
  last_failure_at: null,
  waiting: 0,
};

function findChanges(webhook: WebhookResource, values: WebhookFormValues) {
  return listChanges(toBody(toFormValues(webhook)), toBody(values));
}

test("a new webhook has only the fields that its format uses", () => {
  const values = { ...startValues("srv_1", "en"), label: " Log ", url: " https://example.com/hook " };
  const common = { server_id: "srv_1", label: "Log", url: "https://example.com/hook" };
  const types = { isEverything: false, chosen: ["call.opened"] as const };
  expect(toBody({ ...values, format: "standard", types })).toEqual({
    ...common,
    format: "standard",
    types: ["call.opened"],
  });
  expect(toBody({ ...values, types: { ...types, isEverything: true } })).toEqual({
    ...common,
    format: "discord",
    types: null,
    language: "en",
    show_join_key: false,
  });
  expect(toBody({ ...values, format: "discord-status" })).toEqual({
    ...common,
    format: "discord-status",
    language: "en",
    show_join_key: false,
  });
});

test("an edit sends only what was changed, and the address only when a new one was typed", () => {
  const values = toFormValues(WEBHOOK);
  const { chosen } = values.types;
  expect(findChanges(WEBHOOK, values)).toEqual({});
  // The order in which an operator wrote the types is no change.
  expect(findChanges({ ...WEBHOOK, types: ["player.killed", "modcall.*"] }, values)).toEqual({});
  expect(findChanges(WEBHOOK, { ...values, types: { isEverything: true, chosen } })).toEqual({ types: null });
  expect(findChanges({ ...WEBHOOK, types: null }, { ...values, types: { isEverything: false, chosen } })).toEqual({
    types: ["player.killed", "modcall.*"],
  });
  expect(findChanges(WEBHOOK, { ...values, label: "M ", url: "https://example.com/a", show_join_key: true })).toEqual({
    label: "M",
    url: "https://example.com/a",
    show_join_key: true,
  });
});
