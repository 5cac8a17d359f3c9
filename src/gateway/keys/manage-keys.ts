// The operator's actions on API keys. Every change is validated and written with an audit note. A token is returned once
// and never stored.
import { isDeepStrictEqual } from "node:util";
import { parseAddressRange } from "../../core/address.ts";
import { toCommandName } from "../../core/commands/command.ts";
import {
  ERRORS,
  type FieldReason,
  NO_SERVER,
  NOT_FOUND,
  REVOKED,
  type Refusal,
  refuseField,
  refuseFields,
} from "../../core/errors.ts";
import { DEFAULT_SETTINGS, describeSettings, toSettings } from "../../core/keys/key-settings.ts";
import { judgeKeyState } from "../../core/keys/key-state.ts";
import { hashToken, mintToken, type RandomBytes } from "../../core/keys/token.ts";
import type { NoticeFacts } from "../../core/notices.ts";
import { type AdminAct, rightsOfKey } from "../../core/people/authority.ts";
import { parseCallerId } from "../../core/people/person.ts";
import type { AuditDetails } from "../../core/ports/audit.ts";
import type { KeyChange, KeyDetails } from "../../core/ports/keys.ts";
import type { Page, PageRequest } from "../../core/ports/pages.ts";
import type { Store } from "../../core/ports/store.ts";
import type { BlockResource, KeyResource, KeyUpdate, NewKey, Rotation } from "../../core/wire/key.ts";

const BLOCKS_NAMED_MAX = 5;
const KEY_REVOKED: Refusal = refuseField("key_id", REVOKED, ERRORS.conflict);

export type KeyDeps = { readonly store: Store; readonly randomBytes: RandomBytes };

/** A key as the admin API returns it. */
export function describeKey(key: KeyDetails, isBlocked: boolean, now: number): KeyResource {
  const { label, ...settings } = describeSettings(key);
  return {
    key_id: key.keyId,
    server_id: key.serverId,
    label,
    state: judgeKeyState(key, isBlocked, now),
    ...settings,
    suspended: key.isSuspended,
    created_at: key.createdAt,
    last_used_at: key.lastUsedAt,
    revoked_at: key.revokedAt,
  };
}

export async function createKey(
  { store, randomBytes }: KeyDeps,
  request: NewKey,
  { actor, authority, now }: AdminAct,
): Promise<{ key: KeyDetails; token: string } | Refusal> {
  const { server_id: serverId, label } = request;
  const settings = { ...DEFAULT_SETTINGS, ...toSettings(request), label };
  const refusal =
    authority.require(serverId, "keys") ??
    findInvalidField(request, now) ??
    authority.requireWithin(serverId, rightsOfKey(settings));
  if (refusal) return refusal;
  const token = mintToken(randomBytes);
  const after = { server_id: serverId, ...describeSettings(settings) };
  const note = { at: now, action: "key.created", actor, details: { after }, serverId };
  const key = await store.keys.create({ ...settings, serverId, tokenHash: hashToken(token) }, now, note);
  return key ? { key, token } : refuseField("server_id", NO_SERVER);
}

export async function changeKey(
  { store }: KeyDeps,
  keyId: string,
  request: KeyUpdate,
  { actor, authority, now }: AdminAct,
): Promise<KeyDetails | Refusal> {
  const old = await store.keys.findDetails(keyId);
  if (!old) return NOT_FOUND;
  const { serverId } = old;
  const forbidden = authority.requireWithin(serverId, rightsOfKey(old));
  if (forbidden) return forbidden;
  if (old.revokedAt !== null) return KEY_REVOKED;
  const { suspended: isSuspended } = request;
  const change: KeyChange = { ...toSettings(request), ...(isSuspended !== undefined && { isSuspended }) };
  const changed = { ...old, ...change };
  const refusal = findInvalidField(request, now) ?? authority.requireWithin(serverId, rightsOfKey(changed));
  if (refusal) return refusal;
  const details = diffFields(
    { ...describeSettings(old), suspended: old.isSuspended },
    { ...describeSettings(changed), suspended: changed.isSuspended },
  );
  if (!details) return old;
  const note = { at: now, action: "key.changed", actor, details, serverId };
  return (await store.keys.update(keyId, change, note)) ?? KEY_REVOKED;
}

export async function rotateKey(
  { store, randomBytes }: KeyDeps,
  keyId: string,
  request: Rotation,
  { actor, authority, now }: AdminAct,
): Promise<{ token: string; serverId: string; oldValidUntil: number } | Refusal> {
  const key = await store.keys.findDetails(keyId);
  if (!key) return NOT_FOUND;
  const { serverId } = key;
  const forbidden = authority.requireWithin(serverId, rightsOfKey(key));
  if (forbidden) return forbidden;
  const { grace_seconds: graceSeconds = 0 } = request;
  const token = mintToken(randomBytes);
  const oldValidUntil = now + graceSeconds * 1000;
  const details = { after: { old_token_valid_until: oldValidUntil } };
  const note = { at: now, action: "key.rotated", actor, details, serverId };
  const isDone = await store.keys.rotate(keyId, hashToken(token), oldValidUntil, now, note);
  return isDone ? { token, serverId, oldValidUntil } : KEY_REVOKED;
}

/** Undefined on success, also when the key was revoked before. */
export async function revokeKey(
  { store }: KeyDeps,
  keyId: string,
  { actor, authority, now }: AdminAct,
): Promise<Refusal | undefined> {
  const key = await store.keys.findDetails(keyId);
  if (!key) return NOT_FOUND;
  const { serverId } = key;
  const forbidden = authority.requireWithin(serverId, rightsOfKey(key));
  if (forbidden) return forbidden;
  const note = { at: now, action: "key.revoked", actor, details: { after: { revoked_at: now } }, serverId };
  return (await store.keys.revoke(keyId, now, note)) ? undefined : NOT_FOUND;
}

/** How many blocks are looked at for a page of somebody who sees only some of them. */
const BLOCKS_READ_MAX = 1_000;

/**
 * The blocks in force, with the server and label of their keys, or the name of the person. Who sees only some of them may get
 * fewer than asked for, although there is a next page.
 */
export async function listBlocks(
  store: Store,
  { limit, cursor = "" }: PageRequest,
  { authority, now }: AdminAct,
): Promise<Page<BlockResource>> {
  const blocks = (await store.limits.listBlocks(now)).toSorted((a, b) => (a.keyId < b.keyId ? -1 : 1));
  const rest = blocks.filter(({ keyId }) => keyId > cursor);
  const looked = rest.slice(0, authority.isOperator ? limit : BLOCKS_READ_MAX);
  const items: BlockResource[] = [];
  let last: string | undefined;
  for (const { keyId, blockedUntil } of looked) {
    if (items.length === limit) break;
    const blocked = await findBlocked(store, keyId);
    last = keyId;
    if (!authority.isOperator && (!blocked || !authority.has(blocked.serverId, "keys"))) continue;
    const { serverId = null, label = null } = blocked ?? {};
    items.push({ key_id: keyId, server_id: serverId, label, blocked_until: blockedUntil });
  }
  const isLast = last === undefined || last === rest.at(-1)?.keyId;
  return { items, next: isLast ? null : (last ?? null) };
}

/**
 * Without a beginning: a block that was extended does not tell when it began. `labels` is kept by the caller: everybody may
 * ask for notices, and each label is read once.
 */
export async function listBlockNotices(store: Store, now: number, labels: Map<string, string>): Promise<NoticeFacts[]> {
  const blocks = await store.limits.listBlocks(now);
  if (blocks.length === 0) return [];
  const shown = blocks.slice(0, BLOCKS_NAMED_MAX);
  for (const keyId of labels.keys()) if (!shown.some((block) => block.keyId === keyId)) labels.delete(keyId);
  const named = shown.map(async ({ keyId }) => {
    // Without the database the label is not known.
    const label = labels.get(keyId) ?? (await findBlocked(store, keyId).catch(() => undefined))?.label;
    if (label !== undefined) labels.set(keyId, label);
    return label ?? keyId;
  });
  const until = Math.max(...blocks.map(({ blockedUntil }) => blockedUntil));
  return [{ code: "keys_blocked", count: blocks.length, names: await Promise.all(named), until }];
}

/** A key, or a person on a server, which has a limit of its own. */
async function findBlocked(
  { keys, people, servers }: Pick<Store, "keys" | "people" | "servers">,
  id: string,
): Promise<{ readonly serverId: string; readonly label: string } | undefined> {
  const caller = parseCallerId(id);
  if (!caller) return keys.findDetails(id);
  const { personId, serverId } = caller;
  const person = people.find(personId);
  return person && servers.find(serverId) ? { serverId, label: person.name } : undefined;
}

export async function findServerOfBlock(store: Store, id: string): Promise<string | undefined> {
  return (await findBlocked(store, id))?.serverId;
}

export async function liftBlock(
  { store }: KeyDeps,
  keyId: string,
  { actor, now }: AdminAct,
): Promise<Refusal | undefined> {
  const blocked = await findBlocked(store, keyId);
  if (!blocked) return NOT_FOUND;
  const { serverId } = blocked;
  const block = (await store.limits.listBlocks(now)).find((found) => found.keyId === keyId);
  const details = { before: { blocked_until: block?.blockedUntil ?? null } };
  await store.limits.liftBlock(keyId, now, { at: now, action: "block.lifted", actor, details, serverId });
  return undefined;
}

export const NAME_TWICE: FieldReason = { code: "command_twice", text: "has a name twice; case makes no difference" };

/** Whether a list of commands has one twice, however it is written. */
export function hasNameTwice(commands: readonly string[]): boolean {
  return new Set(commands.map((name) => toCommandName(name).toLowerCase())).size < commands.length;
}

/** Checks what the schema cannot. The messages do not repeat the values, which may be secrets in the wrong field. */
function findInvalidField(request: NewKey | KeyUpdate, now: number): Refusal | undefined {
  const details: Record<string, FieldReason> = {};
  const badRange = request.ip_allow?.findIndex((entry) => !parseAddressRange(entry)) ?? -1;
  if (badRange !== -1) {
    const text = `has neither an address nor a range like 10.0.0.0/8 in place ${badRange + 1}`;
    details.ip_allow = { code: "no_address", text, position: badRange + 1 };
  }
  if (hasNameTwice(request.commands ?? [])) details.commands = NAME_TWICE;
  if (typeof request.expires_at === "number" && request.expires_at <= now)
    details.expires_at = { code: "invalid", text: "must be a time to come in epoch milliseconds, or null" };
  return Object.keys(details).length === 0 ? undefined : refuseFields(details);
}

/** The fields that differ, for the audit log. Undefined when none does. */
export function diffFields(
  old: Readonly<Record<string, unknown>>,
  changed: Readonly<Record<string, unknown>>,
): AuditDetails | undefined {
  const before: Record<string, unknown> = {};
  const after: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(changed)) {
    if (isDeepStrictEqual(old[name], value)) continue;
    before[name] = old[name];
    after[name] = value;
  }
  return Object.keys(after).length === 0 ? undefined : { before, after };
}
