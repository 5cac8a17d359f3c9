// The values of the webhook form: made from a webhook, and turned into a request.
import { EVENT_TYPES, type EventType } from "../../../core/events/event-types.ts";
import type { WebhookFormat, WebhookLanguage } from "../../../core/webhooks/webhook.ts";
import type { NewWebhook, WebhookResource, WebhookUpdate } from "../../../core/wire/webhook.ts";
import { readTypes, USUAL_TYPES, writeTypes } from "./webhook-types.ts";

export type WebhookFormValues = {
  readonly serverId: string;
  readonly label: string;
  /** Empty keeps the address of an existing webhook. */
  readonly url: string;
  readonly format: WebhookFormat;
  readonly isEverything: boolean;
  /** Used unless everything is sent. */
  readonly types: readonly EventType[];
  readonly language: WebhookLanguage;
  readonly showsJoinKey: boolean;
};

export function startValues(serverId: string, language: WebhookLanguage): WebhookFormValues {
  return {
    serverId,
    label: "",
    url: "",
    format: "discord",
    isEverything: false,
    types: USUAL_TYPES,
    language,
    showsJoinKey: false,
  };
}

export function toFormValues(webhook: WebhookResource): WebhookFormValues {
  return {
    serverId: webhook.server_id,
    label: webhook.label,
    url: "",
    format: webhook.format,
    isEverything: webhook.types === null,
    types: webhook.types === null ? USUAL_TYPES : readTypes(webhook.types),
    language: webhook.language,
    showsJoinKey: webhook.show_join_key,
  };
}

/** Whether events are chosen; a status message has none. */
export function hasTypes({ format }: Pick<WebhookFormValues, "format">): boolean {
  return format !== "discord-status";
}

/** Whether Gatehouse writes the messages itself, in a language. */
export function isWritten({ format }: Pick<WebhookFormValues, "format">): boolean {
  return format !== "standard";
}

export function toNewWebhook(values: WebhookFormValues): NewWebhook {
  return {
    server_id: values.serverId,
    label: values.label.trim(),
    url: values.url.trim(),
    format: values.format,
    ...toSettings(values),
  };
}

/** The fields that differ. */
export function findChanges(webhook: WebhookResource, values: WebhookFormValues): WebhookUpdate {
  const before = toSettings(toFormValues(webhook));
  const after = toSettings(values);
  const names = Object.keys(after) as (keyof typeof after)[];
  const changed = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return {
    ...(values.label.trim() !== webhook.label && { label: values.label.trim() }),
    ...(values.url.trim() !== "" && { url: values.url.trim() }),
    ...Object.fromEntries(changed.map((name) => [name, after[name]])),
  };
}

/** Only what the format uses. */
function toSettings(values: WebhookFormValues) {
  const isAll = values.isEverything || EVENT_TYPES.every((type) => values.types.includes(type));
  return {
    ...(hasTypes(values) && { types: isAll ? null : [...writeTypes(values.types)] }),
    ...(isWritten(values) && { language: values.language, show_join_key: values.showsJoinKey }),
  };
}
