// /admin/keys: the API keys and how much they are used.
import Type from "typebox";
import { HOUR_MS } from "../../core/durations.ts";
import { isRefusal, NOT_FOUND } from "../../core/errors.ts";
import { facadeKeyOf } from "../../core/facade/facade-key.ts";
import { KEY_STATES } from "../../core/keys/key-state.ts";
import type { KeyDetails, UsageCount } from "../../core/ports/keys.ts";
import {
  KeyResource,
  KeyUpdate,
  KeyWithToken,
  KeyWithUsage,
  NewKey,
  RotatedKey,
  Rotation,
  type UsageResource,
} from "../../core/wire/key.ts";
import { TEXT_LENGTH_MAX } from "../../core/wire/values.ts";
import { changeKey, createKey, describeKey, revokeKey, rotateKey } from "../../gateway/keys/manage-keys.ts";
import { shows, takes } from "../operation.ts";
import { OF_SERVER } from "../requests/parameters.ts";
import { oneOf } from "../requests/query-fields.ts";
import { type AdminParts, subjectOf } from "./admin-operation.ts";
import { SERVER } from "./servers.ts";

export const KEY = {
  key_id: "key_0Ka4qbuWLQDNnkIAG3EZ",
  server_id: SERVER.server_id,
  label: "Discord bot",
  state: "active",
  versions: ["v2"],
  sections: ["Players", "Queue"],
  commands: [":h", ":m"],
  hide: [],
  may: [],
  ip_allow: ["203.0.113.7"],
  expires_at: null,
  suspended: false,
  created_at: 1_794_700_060_000,
  last_used_at: 1_794_722_320_863,
  revoked_at: null,
};
const SECRETS = {
  token: "gth_EXAMPLEonlyEXAMPLEonlyEXAMPLE0000000",
  facade_key: "gthEXAMPLEonlyEXAMPLEonlyEXAMPLE0000000-srv5tqX0PpV3mYbL1nKcD7w",
};
const USED = { requests: 812, refusals: { "5016": 12 } };
const GRACE_END = 1_794_725_914_688;
export const USAGE = { ...USED, hours: [{ hour: 1_794_720_000_000, ...USED }] };
const SHOWN_KEY = { ...KEY, grace_tokens: [{ valid_until: GRACE_END }], usage: USAGE };

const keys = subjectOf("Keys");

export const keyOperations = {
  list: keys.list({
    id: "listKeys",
    summary: "List keys",
    description:
      "Oldest first, revoked ones included. The work for a page is bounded: with `label` or `state` a page may have few items or none and still a `next`; the search is over when `next` is null.",
    query: {
      server_id: OF_SERVER,
      label: {
        description: "Only keys with this in their label; upper and lower case are the same.",
        schema: Type.String({ maxLength: TEXT_LENGTH_MAX }),
        fault: `must be a part of a label, at most ${TEXT_LENGTH_MAX} characters`,
        mayBeEmpty: true,
        read: (text: string) => ([...text].length > TEXT_LENGTH_MAX ? undefined : text),
      },
      state: { ...oneOf(KEY_STATES, { description: "Only keys in this state." }), mayBeEmpty: true },
    },
    item: KeyResource,
    example: KEY,
    async read(parts, page, { query: { server_id: serverId, label, state }, authority, now }) {
      const search = label === undefined && state === undefined ? undefined : { label, state, now };
      const { items, next } = await parts.store.keys.list({ ...page, ...authority.narrow("keys", serverId), search });
      return { items: await describeKeys(parts, items, now), next };
    },
  }),

  create: keys.define({
    id: "createKey",
    summary: "Make a key",
    description: "What is left out gets its default: version v2, all sections, no commands, anywhere, for ever.",
    body: takes(NewKey, {
      server_id: SERVER.server_id,
      label: "Discord bot",
      sections: ["Players", "Queue"],
      commands: [":h", ":m"],
    }),
    answers: {
      201: shows("The key with its token, which is never shown again.", KeyWithToken, {
        ...KEY,
        last_used_at: null,
        ...SECRETS,
      }),
    },
    errors: ["notFound"],
    changes: "store",
    async handle(parts, request) {
      const created = await createKey(parts, request.body, request);
      if (isRefusal(created)) return created;
      const { key, token } = created;
      const facadeKey = facadeKeyOf(token, key.serverId);
      return { ...describeKey(key, false, request.now), token, facade_key: facadeKey } satisfies KeyWithToken;
    },
  }),

  show: keys.define({
    id: "showKey",
    summary: "Show a key and its usage",
    answers: { 200: shows("The key.", KeyWithUsage, SHOWN_KEY) },
    errors: ["notFound"],
    async handle(parts, { id, now }) {
      const { store, usage, usageMs } = parts;
      const key = await store.keys.findDetails(id);
      if (!key) return NOT_FOUND;
      const since = startOfUsage(now, usageMs);
      // Before the counts are read, because a flush meanwhile could move the last use to the store after `key` was read.
      const described = await describeStoredKey(parts, key, now);
      const counts = await usage.read(key.keyId, since);
      const graceEnds = await store.keys.listGraceEnds(key.keyId, now);
      const grace_tokens = graceEnds.map((end) => ({ valid_until: end }));
      return { ...described, grace_tokens, usage: describeUsage(counts) } satisfies KeyWithUsage;
    },
  }),

  change: keys.define({
    id: "changeKey",
    summary: "Change a key",
    description: "Takes effect on the very next request.",
    body: takes(KeyUpdate, { suspended: true }),
    answers: { 200: shows("The key as it is now.", KeyResource, { ...KEY, state: "suspended", suspended: true }) },
    errors: ["notFound", "conflict"],
    changes: "store",
    async handle(parts, request) {
      const changed = await changeKey(parts, request.id, request.body, request);
      return isRefusal(changed) ? changed : describeStoredKey(parts, changed, request.now);
    },
  }),

  revoke: keys.define({
    id: "revokeKey",
    summary: "Revoke a key",
    description: "For good. Revoking again answers the same.",
    answers: { 204: { description: "The key is revoked." } },
    errors: ["notFound"],
    changes: "store",
    handle: (parts, request) => revokeKey(parts, request.id, request),
  }),

  rotate: keys.define({
    id: "rotateKey",
    summary: "Give a key a new token",
    description:
      "The old token works on for `grace_seconds`, 0 by default. Without grace every older token ends at once, also those of earlier rotations. The body may be left out.",
    body: { ...takes(Rotation, { grace_seconds: 3600 }), isRequired: false },
    answers: {
      200: shows("The new token, which is never shown again.", RotatedKey, {
        key_id: KEY.key_id,
        ...SECRETS,
        old_token_valid_until: GRACE_END,
      }),
    },
    errors: ["notFound", "conflict"],
    changes: "store",
    async handle(parts, request) {
      const { id, body } = request;
      const rotated = await rotateKey(parts, id, body, request);
      if (isRefusal(rotated)) return rotated;
      const { token, serverId, oldValidUntil } = rotated;
      const facadeKey = facadeKeyOf(token, serverId);
      return { key_id: id, token, facade_key: facadeKey, old_token_valid_until: oldValidUntil } satisfies RotatedKey;
    },
  }),
};

async function describeStoredKey(parts: AdminParts, key: KeyDetails, now: number): Promise<KeyResource> {
  const [described] = await describeKeys(parts, [key], now);
  return described as KeyResource;
}

/** The last uses that are not written yet are shown too. */
async function describeKeys(
  { store, usage }: AdminParts,
  stored: readonly KeyDetails[],
  now: number,
): Promise<KeyResource[]> {
  const used = stored.map((key) => usage.withLastUse(key));
  const blocked = await store.limits.findBlocked(
    stored.map(({ keyId }) => keyId),
    now,
  );
  return used.map((key) => describeKey(key, blocked.has(key.keyId), now));
}

/** The first hour that is shown. */
export function startOfUsage(now: number, usageMs: number): number {
  return now - (now % HOUR_MS) - usageMs + HOUR_MS;
}

/** The totals, and each hour with requests, oldest first. */
export function describeUsage(counts: readonly UsageCount[]): UsageResource {
  const hours = Map.groupBy(counts, ({ hour }) => hour);
  return { ...sumUp(counts), hours: Array.from(hours, ([hour, ofHour]) => ({ hour, ...sumUp(ofHour) })) };
}

function sumUp(counts: readonly UsageCount[]): Pick<UsageResource, "requests" | "refusals"> {
  let requests = 0;
  const refusals: Record<string, number> = {};
  for (const { code, count } of counts) {
    requests += count;
    if (code !== 0) refusals[code] = (refusals[code] ?? 0) + count;
  }
  return { requests, refusals };
}
