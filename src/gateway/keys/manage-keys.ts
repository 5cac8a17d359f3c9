// The operator's actions on API keys. Every change is validated and written with an audit note. A token is returned once
// and never stored.
import { isDeepStrictEqual } from "node:util";
import { parseAddressRange } from "../../core/address.ts";
import { DEFAULT_RIGHTS, type KeyRights } from "../../core/api-key.ts";
import { toCommandName } from "../../core/command.ts";
import { ERRORS, type Refusal, refuse } from "../../core/errors.ts";
import { judgeKeyState } from "../../core/key-state.ts";
import type { Actor, AuditDetails } from "../../core/ports/audit.ts";
import type { KeyChange, KeyDetails } from "../../core/ports/keys.ts";
import type { Page, PageRequest } from "../../core/ports/pages.ts";
import type { Store } from "../../core/ports/store.ts";
import { NOT_FOUND, refuseField, refuseFields } from "../../core/refuse-field.ts";
import { toSectionNames, toSectionSet } from "../../core/sections.ts";
import { hashToken, mintToken, type RandomBytes } from "../../core/token.ts";
import type { BlockResource } from "../../core/wire/block.ts";
import type { KeyResource, KeyUpdate, NewKey, Rotation } from "../../core/wire/key.ts";

const REVOKED: Refusal = refuse(ERRORS.conflict, { details: { key_id: "is revoked, and stays so" } });

export type KeyParts = { readonly store: Store; readonly randomBytes: RandomBytes };

/** A key as the admin API returns it. */
export function describeKey(key: KeyDetails, isBlocked: boolean, now: number): KeyResource {
  const { key_id, server_id, label, ...rest } = describeFields(key);
  return { key_id, server_id, label, state: judgeKeyState(key, isBlocked, now), ...rest };
}

/** Without its state, which is no field that somebody sets. */
function describeFields(key: KeyDetails): Omit<KeyResource, "state"> {
  return {
    key_id: key.keyId,
    server_id: key.serverId,
    label: key.label,
    versions: key.versions,
    sections: toSectionNames(key.sections),
    commands: key.commands,
    ip_allow: key.ipAllow,
    expires_at: key.expiresAt,
    suspended: key.isSuspended,
    created_at: key.createdAt,
    last_used_at: key.lastUsedAt,
    revoked_at: key.revokedAt,
  };
}

export async function createKey(
  { store, randomBytes }: KeyParts,
  request: NewKey,
  actor: Actor,
  now: number,
): Promise<{ key: KeyDetails; token: string } | Refusal> {
  const refusal = findInvalidField(request, now);
  if (refusal) return refusal;
  const { server_id: serverId, label, expires_at: expiresAt = null } = request;
  const token = mintToken(randomBytes);
  const rights = { ...DEFAULT_RIGHTS, ...toRights(request) };
  const after = { server_id: serverId, label, ...describeRights(rights), expires_at: expiresAt };
  const note = { at: now, action: "key.created", actor, details: { after } };
  const key = await store.keys.create(
    { ...rights, serverId, label, expiresAt, tokenHash: hashToken(token) },
    now,
    note,
  );
  return key ? { key, token } : refuseField("server_id", "there is no such server");
}

export async function changeKey(
  { store }: KeyParts,
  keyId: string,
  request: KeyUpdate,
  actor: Actor,
  now: number,
): Promise<KeyDetails | Refusal> {
  const old = await store.keys.findDetails(keyId);
  if (!old) return NOT_FOUND;
  if (old.revokedAt !== null) return REVOKED;
  const refusal = findInvalidField(request, now);
  if (refusal) return refusal;
  const { label, expires_at: expiresAt, suspended: isSuspended } = request;
  const change: KeyChange = {
    ...toRights(request),
    ...(label !== undefined && { label }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(isSuspended !== undefined && { isSuspended }),
  };
  const details = diffFields(describeFields(old), describeFields({ ...old, ...change }));
  if (!details) return old;
  const note = { at: now, action: "key.changed", actor, details };
  return (await store.keys.update(keyId, change, note)) ?? REVOKED;
}

export async function rotateKey(
  { store, randomBytes }: KeyParts,
  keyId: string,
  request: Rotation,
  actor: Actor,
  now: number,
): Promise<{ token: string; serverId: string; oldValidUntil: number } | Refusal> {
  const key = await store.keys.findDetails(keyId);
  if (!key) return NOT_FOUND;
  const { grace_seconds: graceSeconds = 0 } = request;
  const token = mintToken(randomBytes);
  const oldValidUntil = now + graceSeconds * 1000;
  const details = { after: { old_token_valid_until: oldValidUntil } };
  const note = { at: now, action: "key.rotated", actor, details };
  const isDone = await store.keys.rotate(keyId, hashToken(token), oldValidUntil, now, note);
  return isDone ? { token, serverId: key.serverId, oldValidUntil } : REVOKED;
}

/** Undefined on success, also when the key was revoked before. */
export async function revokeKey(
  { store }: KeyParts,
  keyId: string,
  actor: Actor,
  now: number,
): Promise<Refusal | undefined> {
  const note = { at: now, action: "key.revoked", actor, details: { after: { revoked_at: now } } };
  return (await store.keys.revoke(keyId, now, note)) ? undefined : NOT_FOUND;
}

/** The blocks in force, with the server and label of their keys. */
export async function listBlocks(
  store: Store,
  { limit, cursor = "" }: PageRequest,
  now: number,
): Promise<Page<BlockResource>> {
  const blocks = (await store.limits.listBlocks(now)).toSorted((a, b) => (a.keyId < b.keyId ? -1 : 1));
  const rest = blocks.filter(({ keyId }) => keyId > cursor);
  const shown = rest.slice(0, limit);
  const items = shown.map(async ({ keyId, blockedUntil }): Promise<BlockResource> => {
    const key = await store.keys.findDetails(keyId);
    return {
      key_id: keyId,
      server_id: key?.serverId ?? null,
      label: key?.label ?? null,
      blocked_until: blockedUntil,
    };
  });
  const next = rest.length > limit ? (shown.at(-1)?.keyId ?? null) : null;
  return { items: await Promise.all(items), next };
}

export async function liftBlock(
  { store }: KeyParts,
  keyId: string,
  actor: Actor,
  now: number,
): Promise<Refusal | undefined> {
  if (!(await store.keys.findDetails(keyId))) return NOT_FOUND;
  const block = (await store.limits.listBlocks(now)).find((found) => found.keyId === keyId);
  const details = { before: { blocked_until: block?.blockedUntil ?? null } };
  await store.limits.liftBlock(keyId, now, { at: now, action: "block.lifted", actor, details });
  return undefined;
}

/** Checks what the schema cannot. The messages do not repeat the values, which may be secrets in the wrong field. */
function findInvalidField(request: NewKey | KeyUpdate, now: number): Refusal | undefined {
  const details: Record<string, string> = {};
  const badRange = request.ip_allow?.findIndex((entry) => !parseAddressRange(entry)) ?? -1;
  if (badRange !== -1) {
    details.ip_allow = `has neither an address nor a range like 10.0.0.0/8 in place ${badRange + 1}`;
  }
  const names = request.commands?.map((name) => toCommandName(name).toLowerCase()) ?? [];
  if (new Set(names).size < names.length) {
    details.commands = "has a name twice; case makes no difference";
  }
  if (typeof request.expires_at === "number" && request.expires_at <= now) {
    details.expires_at = "must be a time to come in epoch milliseconds, or null";
  }
  return Object.keys(details).length === 0 ? undefined : refuseFields(details);
}

function toRights({
  versions,
  sections,
  commands,
  ip_allow: ipAllow,
}: NewKey | KeyUpdate): Partial<KeyRights> {
  return {
    ...(versions && { versions }),
    ...(sections && { sections: toSectionSet(sections) }),
    ...(commands && { commands: commands.map(toCommandName) }),
    ...(ipAllow && { ipAllow }),
  };
}

function describeRights({ versions, sections, commands, ipAllow }: KeyRights) {
  return { versions, sections: toSectionNames(sections), commands, ip_allow: ipAllow };
}

/** The fields that differ, for the audit log. Undefined when none does. */
function diffFields(
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
