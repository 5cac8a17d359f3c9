// The operator's actions on webhooks. Every change is validated and noted in the audit log, in which, as everywhere, the
// address stands only up to its host and first path segment. A secret is returned once and stored encrypted.
import { isDeepStrictEqual } from "node:util";
import { DAY_MS } from "../../core/durations.ts";
import { ERRORS, isRefusal, type Refusal, refuse } from "../../core/errors.ts";
import { type LedgerPlace, parseCursor, writeCursor } from "../../core/events/cursor.ts";
import { filterAll } from "../../core/events/event-types.ts";
import type { Archive, PageStart } from "../../core/ports/archive.ts";
import type { Actor, AuditDetails } from "../../core/ports/audit.ts";
import type { Page, PageRequest } from "../../core/ports/pages.ts";
import type { ServerStore } from "../../core/ports/servers.ts";
import type { SettingStore } from "../../core/ports/settings.ts";
import type { SealedPart, WebhookSealer } from "../../core/ports/webhook-sealer.ts";
import type { WebhookChange, WebhookStore } from "../../core/ports/webhooks.ts";
import { NOT_FOUND, refuseField, refuseFields } from "../../core/refuse-field.ts";
import { type RandomBytes, randomBase62 } from "../../core/token.ts";
import { parseWebhookUrl, showUrl } from "../../core/webhooks/address.ts";
import { WEBHOOK_SECRET_BYTES, writeWebhookSecret } from "../../core/webhooks/standard.ts";
import { type Delivery, WEBHOOKS_PER_SERVER_MAX, type Webhook } from "../../core/webhooks/webhook.ts";
import { filterOfTypes, findTypesProblem } from "../../core/webhooks/webhook-types.ts";
import type {
  DeliveryResource,
  NewWebhook,
  Redelivery,
  WebhookResource,
  WebhookTestResult,
  WebhookUpdate,
} from "../../core/wire/webhook.ts";
import type { SentRequest } from "./webhook-sender.ts";

/** After a rotation the old secret signs too, for this long. */
export const ROTATION_MS = DAY_MS;
const ID_LENGTH = 20;
/** How many queries for `waiting` one list has under way. */
const COUNTS_AT_ONCE = 8;
const LAST_CHANGE_AT = "last-webhook-changed-at";
const NO_SERVER = refuseField("server_id", "there is no such server");
const FULL = refuse(ERRORS.conflict, {
  details: { server_id: `has ${WEBHOOKS_PER_SERVER_MAX} webhooks already, which is the most` },
});
const NO_PLACE = refuse(ERRORS.conflict, {
  details: { format: "discord-status shows a state and has no events to send again" },
});

/** Sends a message that is no event, once, by the rules for every request of a webhook. Changes nothing of the webhook. */
export type SendTest = (
  webhook: Webhook,
  testId: string,
) => Promise<Pick<SentRequest, "outcome" | "durationMs" | "error" | "answer">>;

export type ManagedWebhooks = {
  readonly archive: WebhookStore & Pick<Archive, "readPage">;
  readonly servers: Pick<ServerStore, "find">;
  readonly settings: Pick<SettingStore, "saveAudited">;
  readonly sealer: WebhookSealer;
  readonly randomBytes: RandomBytes;
  /** GATEHOUSE_WEBHOOKS_PRIVATE=allow. */
  readonly allowsPrivate: boolean;
  readonly sendTest: SendTest;
  /** Called after a webhook was created, changed or deleted. */
  readonly notify: (webhookId: string) => void;
};

type WithSecret = { readonly webhook: Webhook; readonly secret: string };

/** The webhook, unless its server was deleted: then it is about to be deleted too. */
export async function findWebhook(
  { archive, servers }: Pick<ManagedWebhooks, "archive" | "servers">,
  webhookId: string,
): Promise<Webhook | Refusal> {
  const webhook = await archive.findWebhook(webhookId);
  return webhook && servers.find(webhook.serverId) ? webhook : NOT_FOUND;
}

/** Oldest first. */
export async function listWebhooks(
  { archive, servers }: ManagedWebhooks,
  serverId: string | undefined,
  { limit, cursor }: PageRequest,
): Promise<Page<WebhookResource>> {
  const all = (await archive.listWebhooks(serverId)).filter((webhook) => servers.find(webhook.serverId));
  const sorted = all
    .map((webhook) => ({ webhook, place: placeInList(webhook) }))
    .sort((a, b) => (a.place < b.place ? -1 : 1));
  const rest = cursor === undefined ? sorted : sorted.filter(({ place }) => place > cursor);
  const shown = rest.slice(0, limit);
  const items: WebhookResource[] = [];
  for (let from = 0; from < shown.length; from += COUNTS_AT_ONCE) {
    const some = shown.slice(from, from + COUNTS_AT_ONCE);
    items.push(...(await Promise.all(some.map(({ webhook }) => describeWebhook(archive, webhook)))));
  }
  return { items, next: rest.length > limit ? (shown.at(-1)?.place ?? null) : null };
}

export async function describeWebhook(
  archive: Pick<WebhookStore, "countWaiting">,
  webhook: Webhook,
): Promise<WebhookResource> {
  const { webhookId, serverId, place, format, types } = webhook;
  const hasPlace = format !== "discord-status";
  return {
    webhook_id: webhookId,
    server_id: serverId,
    ...describeSettings(webhook),
    disabled_reason: webhook.disabledReason,
    created_at: webhook.createdAt,
    last_success_at: webhook.lastSuccessAt,
    last_failure_at: webhook.lastFailureAt,
    waiting: hasPlace ? await archive.countWaiting(serverId, place, filterOfTypes(types)) : 0,
  };
}

export async function createWebhook(
  parts: ManagedWebhooks,
  request: NewWebhook,
  actor: Actor,
  now: number,
): Promise<WithSecret | Refusal> {
  const { archive, servers, sealer, randomBytes } = parts;
  const { server_id: serverId, types = null } = request;
  const checked = checkFields(parts, request);
  if (isRefusal(checked)) return checked;
  if (!servers.find(serverId)) return NO_SERVER;
  if ((await archive.listWebhooks(serverId)).length >= WEBHOOKS_PER_SERVER_MAX) return FULL;
  const webhookId = `hook_${randomBase62(ID_LENGTH, randomBytes)}`;
  const secret = writeWebhookSecret(randomBytes(WEBHOOK_SECRET_BYTES));
  const draft: Omit<Webhook, "place"> = {
    webhookId,
    serverId,
    createdAt: now,
    label: request.label,
    format: request.format,
    types,
    language: request.language ?? "en",
    showJoinKey: request.show_join_key ?? false,
    isEnabled: true,
    sealedUrl: sealer.seal(request.url, webhookId, "url"),
    shownUrl: checked.shownUrl ?? "",
    ...NOT_FAILING,
    lastSuccessAt: null,
    lastFailureAt: null,
    disabledReason: null,
    message: null,
    sealedSecret: sealer.seal(secret, webhookId, "secret"),
    sealedOldSecret: null,
    oldSecretUntil: null,
  };
  const after = { server_id: serverId, ...describeSettings(draft) };
  await note(parts, "webhook.created", webhookId, actor, now, { after });
  if ((await archive.createWebhook(draft)) === "full") return FULL;
  parts.notify(webhookId);
  const webhook = await findWebhook(parts, webhookId);
  // Deleting its server meanwhile has deleted it.
  return isRefusal(webhook) ? NO_SERVER : { webhook, secret };
}

/** A failure that lasted says nothing about a receiver that was changed. */
const NOT_FAILING = { firstFailureAt: null, failures: 0, refusals: 0, nextAttemptAt: null } as const;

export async function changeWebhook(
  parts: ManagedWebhooks,
  webhookId: string,
  request: WebhookUpdate,
  actor: Actor,
  now: number,
): Promise<Webhook | Refusal> {
  const old = await findWebhook(parts, webhookId);
  if (isRefusal(old)) return old;
  const checked = checkFields(parts, request);
  if (isRefusal(checked)) return checked;
  const { label, types, language, show_join_key: showJoinKey, enabled } = request;
  const isMoved = request.url !== undefined && request.url !== open(parts, old.sealedUrl, webhookId, "url");
  const change: WebhookChange = {
    ...(label !== undefined && { label }),
    ...(types !== undefined && { types }),
    ...(language !== undefined && { language }),
    ...(showJoinKey !== undefined && { showJoinKey }),
    ...(isMoved && moveTo(parts, webhookId, request.url, checked.shownUrl ?? "")),
    ...(enabled !== undefined && enabled !== old.isEnabled && switchTo(enabled, old, isMoved)),
  };
  const changed = { ...old, ...change };
  const details = diffSettings(old, changed, isMoved);
  if (!details) return old;
  await note(parts, "webhook.changed", webhookId, actor, now, details);
  return update(parts, changed, change);
}

/** The old secret signs on for a day. One that an earlier rotation left ends now. */
export async function rotateWebhook(
  parts: ManagedWebhooks,
  webhookId: string,
  actor: Actor,
  now: number,
): Promise<WithSecret | Refusal> {
  const { sealer, randomBytes } = parts;
  const old = await findWebhook(parts, webhookId);
  if (isRefusal(old)) return old;
  const secret = writeWebhookSecret(randomBytes(WEBHOOK_SECRET_BYTES));
  // One that was encrypted with another secret of Gatehouse cannot sign.
  const canSign = open(parts, old.sealedSecret, webhookId, "secret") !== undefined;
  const oldSecretUntil = canSign ? now + ROTATION_MS : null;
  const change = {
    sealedSecret: sealer.seal(secret, webhookId, "secret"),
    sealedOldSecret: canSign ? old.sealedSecret : null,
    oldSecretUntil,
  };
  const details = { after: { old_secret_valid_until: oldSecretUntil } };
  await note(parts, "webhook.rotated", webhookId, actor, now, details);
  const webhook = await update(parts, { ...old, ...change }, change);
  return isRefusal(webhook) ? webhook : { webhook, secret };
}

export async function redeliver(
  parts: ManagedWebhooks,
  webhookId: string,
  { after }: Redelivery,
  actor: Actor,
  now: number,
): Promise<Webhook | Refusal> {
  const old = await findWebhook(parts, webhookId);
  if (isRefusal(old)) return old;
  if (old.format === "discord-status") return NO_PLACE;
  const place = await findPlace(parts, old.serverId, after);
  if (isRefusal(place)) return place;
  const details = {
    before: { after: writeCursor(old.serverId, old.place) },
    after: { after: writeCursor(old.serverId, place) },
  };
  await note(parts, "webhook.redelivered", webhookId, actor, now, details);
  // The refusals were about another event.
  const change = { place, refusals: 0, nextAttemptAt: null };
  return update(parts, { ...old, ...change }, change);
}

/** Undefined on success. */
export async function deleteWebhook(
  parts: ManagedWebhooks,
  webhookId: string,
  actor: Actor,
  now: number,
): Promise<Refusal | undefined> {
  const old = await findWebhook(parts, webhookId);
  if (isRefusal(old)) return old;
  const before = { server_id: old.serverId, ...describeSettings(old) };
  await note(parts, "webhook.deleted", webhookId, actor, now, { before });
  const isDeleted = await parts.archive.deleteWebhook(webhookId);
  parts.notify(webhookId);
  return isDeleted ? undefined : NOT_FOUND;
}

export async function testWebhook(
  parts: Pick<ManagedWebhooks, "archive" | "servers" | "randomBytes" | "sendTest">,
  webhookId: string,
): Promise<WebhookTestResult | Refusal> {
  const webhook = await findWebhook(parts, webhookId);
  if (isRefusal(webhook)) return webhook;
  const testId = `test_${randomBase62(ID_LENGTH, parts.randomBytes)}`;
  const { outcome, durationMs, error, answer } = await parts.sendTest(webhook, testId);
  return { status: outcome.status, duration_ms: Math.round(durationMs), error: answer ?? error };
}

/** Newest first. The cursor tells the time of the last one that was shown, and how many of that time were. */
export async function listDeliveries(
  parts: ManagedWebhooks,
  webhookId: string,
  { limit, cursor }: PageRequest,
): Promise<Page<DeliveryResource> | Refusal> {
  const webhook = await findWebhook(parts, webhookId);
  if (isRefusal(webhook)) return webhook;
  const all = await parts.archive.listDeliveries(webhookId);
  const rest = cursor === undefined ? all : skipShown(all, cursor);
  const shown = rest.slice(0, limit);
  const last = shown.at(-1);
  const isLast = rest.length <= limit || last === undefined;
  const skipped = all.length - rest.length + shown.length;
  return {
    items: shown.map((delivery) => describeDelivery(parts, webhookId, delivery)),
    next: isLast ? null : placeAfter(all, skipped, last.at),
  };
}

function placeAfter(all: readonly Delivery[], skipped: number, at: number): string {
  return `${at} ${all.slice(0, skipped).filter((delivery) => delivery.at === at).length}`;
}

function skipShown(all: readonly Delivery[], cursor: string): readonly Delivery[] {
  const [at = 0, count = 0] = cursor.split(" ").map(Number);
  const first = all.findIndex((delivery) => delivery.at <= at);
  if (first < 0) return [];
  return all[first]?.at === at ? all.slice(first + count) : all.slice(first);
}

function describeDelivery(
  parts: ManagedWebhooks,
  webhookId: string,
  { at, eventIds, status, durationMs, error, sealedAnswer }: Delivery,
): DeliveryResource {
  const answer = sealedAnswer === null ? undefined : open(parts, sealedAnswer, webhookId, "answer");
  return { at, event_ids: [...eventIds], status, duration_ms: durationMs, error: answer ?? error };
}

/** What the operator sets, as the admin API and the audit log tell it. */
function describeSettings(
  webhook: Omit<Webhook, "place">,
): Pick<WebhookResource, "label" | "url" | "format" | "types" | "language" | "show_join_key" | "enabled"> {
  return {
    label: webhook.label,
    url: webhook.shownUrl,
    format: webhook.format,
    types: webhook.types && [...webhook.types],
    language: webhook.language,
    show_join_key: webhook.showJoinKey,
    enabled: webhook.isEnabled,
  };
}

/** What the schema cannot check. `shownUrl` is that of the url, when there is one. */
function checkFields(
  { allowsPrivate }: ManagedWebhooks,
  { url, types }: Pick<WebhookUpdate, "url" | "types">,
): { readonly shownUrl: string | undefined } | Refusal {
  const details: Record<string, string> = {};
  const parsed = url === undefined ? undefined : parseWebhookUrl(url, allowsPrivate);
  if (parsed && "problem" in parsed) details.url = parsed.problem;
  const problem = types ? findTypesProblem(types) : undefined;
  if (problem !== undefined) details.types = problem;
  if (Object.keys(details).length > 0) return refuseFields(details);
  return { shownUrl: parsed && "url" in parsed ? showUrl(parsed.url) : undefined };
}

/** Undefined when it was encrypted with another secret of Gatehouse. */
function open(
  { sealer }: ManagedWebhooks,
  sealed: string,
  webhookId: string,
  part: SealedPart,
): string | undefined {
  try {
    return sealer.open(sealed, webhookId, part);
  } catch {
    return undefined;
  }
}

function moveTo(
  { sealer }: ManagedWebhooks,
  webhookId: string,
  url: string | undefined,
  shownUrl: string,
): WebhookChange {
  // The message of discord-status belongs to the old address.
  return { sealedUrl: sealer.seal(url ?? "", webhookId, "url"), shownUrl, ...NOT_FAILING, message: null };
}

function switchTo(isEnabled: boolean, { message }: Webhook, isMoved: boolean): WebhookChange {
  if (!isEnabled) return { isEnabled };
  const kept = message && !isMoved ? { message: { ...message, lostAt: null } } : {};
  return { isEnabled, disabledReason: null, ...NOT_FAILING, ...kept };
}

function diffSettings(old: Webhook, changed: Webhook, isMoved: boolean): AuditDetails | undefined {
  const before: Record<string, unknown> = {};
  const after: Record<string, unknown> = {};
  const settings: Readonly<Record<string, unknown>> = describeSettings(old);
  for (const [name, value] of Object.entries(describeSettings(changed))) {
    // Another address may look the same as far as it is shown.
    if (isDeepStrictEqual(settings[name], value) && !(name === "url" && isMoved)) continue;
    before[name] = settings[name];
    after[name] = value;
  }
  return Object.keys(after).length === 0 ? undefined : { before, after };
}

async function findPlace(
  { archive }: ManagedWebhooks,
  serverId: string,
  after: string,
): Promise<LedgerPlace | Refusal> {
  const start = parseStart(after, serverId);
  if (isRefusal(start)) return start;
  const page = await archive.readPage({ serverId, start, filter: filterAll(), limit: 1 });
  if ("expired" in page) return refuse(ERRORS.cursorExpired, { oldest: writeCursor(serverId, page.oldest) });
  if (typeof start.after === "object") return start.after;
  return start.after === "earliest" ? page.previous : page.next;
}

function parseStart(after: string, serverId: string): Extract<PageStart, { after: unknown }> | Refusal {
  if (after === "earliest" || after === "now") return { after };
  const place = parseCursor(after, serverId);
  if (typeof place === "object") return { after: place };
  return refuseField(
    "after",
    place === "foreign" ? "is a cursor of another server" : "must be a cursor, earliest or now",
  );
}

async function update(
  { archive, notify }: ManagedWebhooks,
  changed: Webhook,
  change: WebhookChange,
): Promise<Webhook | Refusal> {
  const isDone = await archive.updateWebhook(changed.webhookId, change);
  notify(changed.webhookId);
  return isDone ? changed : NOT_FOUND;
}

/**
 * The archive and the audit log are two databases, so the two are not written together. The entry comes first: a change that
 * is not in the log would be worse than an entry for a change that failed.
 */
function note(
  { settings }: Pick<ManagedWebhooks, "settings">,
  action: string,
  webhookId: string,
  actor: Actor,
  at: number,
  details: AuditDetails,
): Promise<void> {
  return settings.saveAudited(LAST_CHANGE_AT, String(at), webhookId, { at, action, actor, details });
}

/** Sorts as the list does: by time, then by id. */
function placeInList({ createdAt, webhookId }: Webhook): string {
  return `${String(createdAt).padStart(16, "0")} ${webhookId}`;
}
