// The operator's actions on webhooks. Every change is validated and noted in the audit log, in which, as everywhere, the
// address stands only up to its host and first path segment. A secret is returned once and stored encrypted.
import { DAY_MS } from "../../core/durations.ts";
import {
  ERRORS,
  type FieldReason,
  isRefusal,
  NO_SERVER,
  NOT_FOUND,
  type Refusal,
  refuse,
  refuseField,
  refuseFields,
} from "../../core/errors.ts";
import { type LedgerPosition, parseCursor, writeCursor } from "../../core/events/cursor.ts";
import { EVENT_TYPES, filterAll, filterOf, toEventKind } from "../../core/events/event-types.ts";
import { HIDES_JOIN_KEY, HIDES_LOCATION, HIDES_NOTHING, NO_ABILITIES } from "../../core/keys/rights.ts";
import { type RandomBytes, randomBase62 } from "../../core/keys/token.ts";
import type { AdminAct, Authority, ServerFilter } from "../../core/people/authority.ts";
import type { Archive, PageStart } from "../../core/ports/archive.ts";
import type { AuditDetails, AuditStore } from "../../core/ports/audit.ts";
import type { Page, PageRequest } from "../../core/ports/pages.ts";
import type { ServerStore } from "../../core/ports/servers.ts";
import type { SealedPart, WebhookChange, WebhookSealer, WebhookStore } from "../../core/ports/webhooks.ts";
import { ALL_SECTIONS, NO_SECTIONS, toSectionSet } from "../../core/sections.ts";
import { parseWebhookUrl, showUrl } from "../../core/webhooks/address.ts";
import { WEBHOOK_SECRET_BYTES, writeWebhookSecret } from "../../core/webhooks/standard.ts";
import {
  type Delivery,
  describeDisabled,
  filterOfTypes,
  findTypesProblem,
  WEBHOOKS_PER_SERVER_MAX,
  type Webhook,
} from "../../core/webhooks/webhook.ts";
import type {
  DeliveryResource,
  NewWebhook,
  Redelivery,
  WebhookResource,
  WebhookTestResult,
  WebhookUpdate,
} from "../../core/wire/webhook.ts";
import { diffFields } from "../keys/manage-keys.ts";
import type { SentRequest } from "./webhook-sender.ts";

/** After a rotation the old secret signs too, for this long. */
export const ROTATION_MS = DAY_MS;
const ID_LENGTH = 20;
/** How many queries for `waiting` one list has under way. */
const COUNTS_AT_ONCE = 8;
const UNKNOWN_SERVER = refuseField("server_id", NO_SERVER);
const FULL_TEXT = `has ${WEBHOOKS_PER_SERVER_MAX} webhooks already, which is the most`;
const FULL = refuseField("server_id", { code: "webhooks_full", text: FULL_TEXT }, ERRORS.conflict);
const CALL_TYPES = EVENT_TYPES.filter((type) => type.startsWith("call."));
const NO_POSITION_TEXT = "discord-status shows a state and has no events to send again";
const NO_POSITION = refuseField("format", NO_POSITION_TEXT, ERRORS.conflict);

/** Sends a message that is no event, once, by the rules for every request of a webhook. Changes nothing of the webhook. */
export type SendTest = (
  webhook: Webhook,
  testId: string,
) => Promise<Pick<SentRequest, "outcome" | "durationMs" | "error" | "answer">>;

export type ManagedWebhooks = {
  readonly archive: WebhookStore & Pick<Archive, "readPage">;
  readonly servers: Pick<ServerStore, "find">;
  readonly audit: Pick<AuditStore, "add">;
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

/** The webhook, unless it sends more than the one who wants to change it may read. */
async function findOwn(
  deps: Pick<ManagedWebhooks, "archive" | "servers">,
  webhookId: string,
  { authority }: AdminAct,
): Promise<Webhook | Refusal> {
  const found = await findWebhook(deps, webhookId);
  return isRefusal(found) ? found : (judgeRights(found, authority) ?? found);
}

/**
 * Whoever sets a webhook reads what it sends, so it sends no more than they may read. A program gets server.changed with the
 * join key, and a custom.unknown has whatever the game sent; no other event has a field that can be hidden. A message to Discord
 * names the caller of an emergency call, and names are read with the section Players.
 */
function judgeRights(
  { serverId, types, format, showJoinKey }: Pick<Webhook, "serverId" | "types" | "format" | "showJoinKey">,
  authority: Authority,
): Refusal | undefined {
  const sections = authority.findRights(serverId)?.sections ?? NO_SECTIONS;
  // A message with the server's state counts players, staff and queue.
  const kinds = filterOfTypes(types);
  const isReadable = format !== "discord-status" && kinds.isSubsetOf(filterOf(EVENT_TYPES, sections));
  const isUnknown = format !== "discord-status" && kinds.has(toEventKind("custom.unknown"));
  const namesCallers = format === "discord" && CALL_TYPES.some((type) => kinds.has(toEventKind(type)));
  const needed = namesCallers ? sections | toSectionSet(["Players"]) : sections;
  const hasJoinKey = showJoinKey || (format === "standard" && kinds.has(toEventKind("server.changed")));
  return authority.requireWithin(serverId, {
    sections: isReadable ? needed : ALL_SECTIONS,
    hide: isUnknown ? HIDES_NOTHING : (hasJoinKey ? HIDES_NOTHING : HIDES_JOIN_KEY) | HIDES_LOCATION,
    commands: [],
    may: NO_ABILITIES,
  });
}

/** Oldest first. */
export async function listWebhooks(
  { archive, servers }: ManagedWebhooks,
  { serverId, serverIds }: ServerFilter,
  { limit, cursor }: PageRequest,
): Promise<Page<WebhookResource>> {
  const isShown = (webhook: Webhook) =>
    servers.find(webhook.serverId) !== undefined && serverIds?.includes(webhook.serverId) !== false;
  const all = (await archive.listWebhooks(serverId)).filter(isShown);
  const sorted = all
    .map((webhook) => ({ webhook, place: positionInList(webhook) }))
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
  const hasPosition = format !== "discord-status";
  return {
    webhook_id: webhookId,
    server_id: serverId,
    ...describeSettings(webhook),
    ...describeDisabled(webhook.disabledReason),
    created_at: webhook.createdAt,
    last_success_at: webhook.lastSuccessAt,
    last_failure_at: webhook.lastFailureAt,
    waiting: hasPosition ? await archive.countWaiting(serverId, place, filterOfTypes(types)) : 0,
  };
}

export async function createWebhook(
  deps: ManagedWebhooks,
  request: NewWebhook,
  act: AdminAct,
): Promise<WithSecret | Refusal> {
  const { archive, servers, sealer, randomBytes } = deps;
  const { server_id: serverId, types = null, format, show_join_key: showJoinKey = false } = request;
  const { authority, now } = act;
  const forbidden = authority.require(serverId, "webhooks");
  if (forbidden) return forbidden;
  const checked = checkFields(deps, request);
  if (isRefusal(checked)) return checked;
  const tooMuch = judgeRights({ serverId, types, format, showJoinKey }, authority);
  if (tooMuch) return tooMuch;
  if (!servers.find(serverId)) return UNKNOWN_SERVER;
  if ((await archive.listWebhooks(serverId)).length >= WEBHOOKS_PER_SERVER_MAX) return FULL;
  const webhookId = `hook_${randomBase62(ID_LENGTH, randomBytes)}`;
  const secret = writeWebhookSecret(randomBytes(WEBHOOK_SECRET_BYTES));
  const draft: Omit<Webhook, "place"> = {
    webhookId,
    serverId,
    createdAt: now,
    label: request.label,
    format,
    types,
    language: request.language ?? "en",
    showJoinKey,
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
  await note(deps, "webhook.created", draft, act, { after });
  if ((await archive.createWebhook(draft)) === "full") return FULL;
  deps.notify(webhookId);
  const webhook = await findWebhook(deps, webhookId);
  // Deleting its server meanwhile has deleted it.
  return isRefusal(webhook) ? UNKNOWN_SERVER : { webhook, secret };
}

/** A failure that lasted says nothing about a receiver that was changed. */
const NOT_FAILING = { firstFailureAt: null, failures: 0, refusals: 0, nextAttemptAt: null } as const;

export async function changeWebhook(
  deps: ManagedWebhooks,
  webhookId: string,
  request: WebhookUpdate,
  act: AdminAct,
): Promise<Webhook | Refusal> {
  const old = await findOwn(deps, webhookId, act);
  if (isRefusal(old)) return old;
  const checked = checkFields(deps, request);
  if (isRefusal(checked)) return checked;
  const { label, types, language, show_join_key: showJoinKey, enabled } = request;
  const isMoved = request.url !== undefined && request.url !== open(deps, old.sealedUrl, webhookId, "url");
  const change: WebhookChange = {
    ...(label !== undefined && { label }),
    ...(types !== undefined && { types }),
    ...(language !== undefined && { language }),
    ...(showJoinKey !== undefined && { showJoinKey }),
    ...(isMoved && moveTo(deps, webhookId, request.url, checked.shownUrl ?? "")),
    ...(enabled !== undefined && enabled !== old.isEnabled && switchTo(enabled, old, isMoved)),
  };
  const changed = { ...old, ...change };
  const tooMuch = judgeRights(changed, act.authority);
  if (tooMuch) return tooMuch;
  const details = diffSettings(old, changed, isMoved);
  if (!details) return old;
  await note(deps, "webhook.changed", old, act, details);
  return update(deps, changed, change);
}

/** The old secret signs on for a day. One that an earlier rotation left ends now. */
export async function rotateWebhook(
  deps: ManagedWebhooks,
  webhookId: string,
  act: AdminAct,
): Promise<WithSecret | Refusal> {
  const { sealer, randomBytes } = deps;
  const { now } = act;
  const old = await findOwn(deps, webhookId, act);
  if (isRefusal(old)) return old;
  const secret = writeWebhookSecret(randomBytes(WEBHOOK_SECRET_BYTES));
  // One that was encrypted with another secret of Gatehouse cannot sign.
  const canSign = open(deps, old.sealedSecret, webhookId, "secret") !== undefined;
  const oldSecretUntil = canSign ? now + ROTATION_MS : null;
  const change = {
    sealedSecret: sealer.seal(secret, webhookId, "secret"),
    sealedOldSecret: canSign ? old.sealedSecret : null,
    oldSecretUntil,
  };
  const details = { after: { old_secret_valid_until: oldSecretUntil } };
  await note(deps, "webhook.rotated", old, act, details);
  const webhook = await update(deps, { ...old, ...change }, change);
  return isRefusal(webhook) ? webhook : { webhook, secret };
}

export async function redeliver(
  deps: ManagedWebhooks,
  webhookId: string,
  { after }: Redelivery,
  act: AdminAct,
): Promise<Webhook | Refusal> {
  const old = await findOwn(deps, webhookId, act);
  if (isRefusal(old)) return old;
  if (old.format === "discord-status") return NO_POSITION;
  const place = await findPosition(deps, old.serverId, after);
  if (isRefusal(place)) return place;
  const details = {
    before: { after: writeCursor(old.serverId, old.place) },
    after: { after: writeCursor(old.serverId, place) },
  };
  await note(deps, "webhook.redelivered", old, act, details);
  // The refusals were about another event.
  const change = { place, refusals: 0, nextAttemptAt: null };
  return update(deps, { ...old, ...change }, change);
}

/** Undefined on success. */
export async function deleteWebhook(
  deps: ManagedWebhooks,
  webhookId: string,
  act: AdminAct,
): Promise<Refusal | undefined> {
  const old = await findOwn(deps, webhookId, act);
  if (isRefusal(old)) return old;
  const before = { server_id: old.serverId, ...describeSettings(old) };
  await note(deps, "webhook.deleted", old, act, { before });
  const isDeleted = await deps.archive.deleteWebhook(webhookId);
  deps.notify(webhookId);
  return isDeleted ? undefined : NOT_FOUND;
}

export async function testWebhook(
  deps: Pick<ManagedWebhooks, "archive" | "servers" | "randomBytes" | "sendTest">,
  webhookId: string,
): Promise<WebhookTestResult | Refusal> {
  const webhook = await findWebhook(deps, webhookId);
  if (isRefusal(webhook)) return webhook;
  const testId = `test_${randomBase62(ID_LENGTH, deps.randomBytes)}`;
  const { outcome, durationMs, error, answer } = await deps.sendTest(webhook, testId);
  return {
    status: outcome.status,
    duration_ms: Math.round(durationMs),
    ...describeProblem(outcome.status, error, answer),
  };
}

/**
 * Newest first. A receiver's answer may repeat what it was sent, so only those see it who may read that. The cursor tells the time of the last one that was shown, and how many of that time were.
 */
export async function listDeliveries(
  deps: ManagedWebhooks,
  webhookId: string,
  { limit, cursor }: PageRequest,
  authority: Authority,
): Promise<Page<DeliveryResource> | Refusal> {
  const webhook = await findWebhook(deps, webhookId);
  if (isRefusal(webhook)) return webhook;
  const showsAnswers = judgeRights(webhook, authority) === undefined;
  const all = await deps.archive.listDeliveries(webhookId);
  const rest = cursor === undefined ? all : skipShown(all, cursor);
  const shown = rest.slice(0, limit);
  const last = shown.at(-1);
  const isLast = rest.length <= limit || last === undefined;
  const skipped = all.length - rest.length + shown.length;
  return {
    items: shown.map((delivery) =>
      describeDelivery(deps, webhookId, showsAnswers ? delivery : { ...delivery, sealedAnswer: null }),
    ),
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
  deps: ManagedWebhooks,
  webhookId: string,
  { at, eventIds, status, durationMs, error, sealedAnswer }: Delivery,
): DeliveryResource {
  const answer = sealedAnswer === null ? null : (open(deps, sealedAnswer, webhookId, "answer") ?? null);
  return { at, event_ids: [...eventIds], status, duration_ms: durationMs, ...describeProblem(status, error, answer) };
}

function describeProblem(
  status: number | null,
  error: string | null,
  answer: string | null,
): Pick<DeliveryResource, "error" | "error_code"> {
  if (answer !== null) return { error: answer, error_code: null };
  if (error === null || status === null) return { error, error_code: error };
  return { error, error_code: status <= 399 ? "redirect" : "wordless" };
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
  const details: Record<string, string | FieldReason> = {};
  const parsed = url === undefined ? undefined : parseWebhookUrl(url, allowsPrivate);
  if (parsed && "problem" in parsed) details.url = parsed.problem;
  const problem = types ? findTypesProblem(types) : undefined;
  if (problem !== undefined) details.types = problem;
  if (Object.keys(details).length > 0) return refuseFields(details);
  return { shownUrl: parsed && "url" in parsed ? showUrl(parsed.url) : undefined };
}

/** Undefined when it was encrypted with another secret of Gatehouse. */
function open({ sealer }: ManagedWebhooks, sealed: string, webhookId: string, part: SealedPart): string | undefined {
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

/** Another address may look the same as far as it is shown. */
function diffSettings(old: Webhook, changed: Webhook, isMoved: boolean): AuditDetails | undefined {
  const details = diffFields(describeSettings(old), describeSettings(changed));
  if (!isMoved) return details;
  return { before: { ...details?.before, url: old.shownUrl }, after: { ...details?.after, url: changed.shownUrl } };
}

async function findPosition(
  { archive }: ManagedWebhooks,
  serverId: string,
  after: string,
): Promise<LedgerPosition | Refusal> {
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
 * The archive may be another database than the audit log, so the two are not written together. The entry comes first: a change that
 * is not in the log would be worse than an entry for a change that failed.
 */
function note(
  { audit }: Pick<ManagedWebhooks, "audit">,
  action: string,
  { webhookId, serverId }: Pick<Webhook, "webhookId" | "serverId">,
  { actor, now: at }: AdminAct,
  details: AuditDetails,
): Promise<void> {
  return audit.add(webhookId, { at, action, actor, details, serverId });
}

/** Sorts as the list does: by time, then by id. */
function positionInList({ createdAt, webhookId }: Webhook): string {
  return `${String(createdAt).padStart(16, "0")} ${webhookId}`;
}
