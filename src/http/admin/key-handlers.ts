// /admin/keys: the API keys and how much they are used.
import { HOUR_MS } from "../../core/durations.ts";
import { isRefusal, type Refusal } from "../../core/errors.ts";
import { facadeKeyOf } from "../../core/facade/facade-key.ts";
import { KEY_STATES } from "../../core/key-state.ts";
import type { Actor } from "../../core/ports/audit.ts";
import type { KeyDetails, KeyFilter } from "../../core/ports/keys.ts";
import type { PageRequest } from "../../core/ports/pages.ts";
import { NOT_FOUND, refuseField } from "../../core/refuse-field.ts";
import {
  type KeyResource,
  KeyUpdate,
  type KeyWithToken,
  type KeyWithUsage,
  NewKey,
  type RotatedKey,
  Rotation,
} from "../../core/wire/key.ts";
import { TEXT_LENGTH_MAX } from "../../core/wire/values.ts";
import {
  changeKey,
  createKey,
  describeKey,
  type KeyParts,
  revokeKey,
  rotateKey,
} from "../../gateway/keys/manage-keys.ts";
import type { UsageMeter } from "../../gateway/keys/usage-meter.ts";
import { answerJson, answerRefusal } from "../answers.ts";
import type { Call } from "../call.ts";
import { describeUsage } from "../describe-resources.ts";
import type { Pages } from "../pages.ts";
import { findOnly, parseBody, parseChoice, parseId, pathIdOf, queryOf } from "../parse-request.ts";
import { answerDone, answerOutcome } from "./answer-operator.ts";
import type { Mutex } from "./mutex.ts";

export type KeyHandlersParts = KeyParts & {
  readonly changes: Mutex;
  readonly pages: Pages;
  readonly usage: UsageMeter;
  /** How far back a key's usage is shown. */
  readonly usageMs: number;
};

export class KeyHandlers {
  readonly #parts: KeyHandlersParts;

  constructor(parts: KeyHandlersParts) {
    this.#parts = parts;
  }

  async list(call: Call): Promise<Response> {
    const { store } = this.#parts;
    const filter = parseFilter(queryOf(call), call.now);
    if (isRefusal(filter)) return answerRefusal(call, filter);
    const read = async (page: PageRequest) => {
      const { items, next } = await store.keys.list({ ...page, ...filter });
      return { items: await this.#describeAll(items, call.now), next };
    };
    return this.#parts.pages.answer(call, read, (key: KeyResource) => key);
  }

  async create(call: Call, actor: Actor): Promise<Response> {
    const request = await parseBody(call, NewKey);
    if (isRefusal(request)) return answerRefusal(call, request);
    const created = await this.#parts.changes.run(call, () =>
      createKey(this.#parts, request.value, actor, call.now),
    );
    return answerOutcome(
      call,
      created,
      ({ key, token }): KeyWithToken => ({
        ...describeKey(key, false, call.now),
        token,
        facade_key: facadeKeyOf(token, key.serverId),
      }),
      201,
    );
  }

  async show(call: Call): Promise<Response> {
    const { store, usage, usageMs } = this.#parts;
    const key = (await store.keys.findDetails(pathIdOf(call))) ?? NOT_FOUND;
    if (isRefusal(key)) return answerRefusal(call, key);
    const since = call.now - (call.now % HOUR_MS) - usageMs + HOUR_MS;
    // Before the counts are read, because a flush meanwhile could move the last use to the store after `key` was read.
    const described = await this.#describe(key, call.now);
    const counts = await usage.read(key.keyId, since);
    const graceEnds = await store.keys.listGraceEnds(key.keyId, call.now);
    const body: KeyWithUsage = {
      ...described,
      grace_tokens: graceEnds.map((end) => ({ valid_until: end })),
      usage: describeUsage(counts),
    };
    return answerJson(body);
  }

  async change(call: Call, actor: Actor): Promise<Response> {
    const { changes } = this.#parts;
    const request = await parseBody(call, KeyUpdate);
    if (isRefusal(request)) return answerRefusal(call, request);
    const changed = await changes.run(call, () =>
      changeKey(this.#parts, pathIdOf(call), request.value, actor, call.now),
    );
    if (isRefusal(changed)) return answerRefusal(call, changed);
    return answerJson(await this.#describe(changed, call.now));
  }

  async revoke(call: Call, actor: Actor): Promise<Response> {
    const refusal = await this.#parts.changes.run(call, () =>
      revokeKey(this.#parts, pathIdOf(call), actor, call.now),
    );
    return answerDone(call, refusal);
  }

  async rotate(call: Call, actor: Actor): Promise<Response> {
    const keyId = pathIdOf(call);
    const request = await parseBody(call, Rotation, {});
    if (isRefusal(request)) return answerRefusal(call, request);
    const rotated = await this.#parts.changes.run(call, () =>
      rotateKey(this.#parts, keyId, request.value, actor, call.now),
    );
    return answerOutcome(call, rotated, ({ token, serverId, oldValidUntil }): RotatedKey => {
      const facadeKey = facadeKeyOf(token, serverId);
      return { key_id: keyId, token, facade_key: facadeKey, old_token_valid_until: oldValidUntil };
    });
  }

  async #describe(key: KeyDetails, now: number): Promise<KeyResource> {
    const [described] = await this.#describeAll([key], now);
    return described as KeyResource;
  }

  /** The last uses that are not written yet are shown too. */
  async #describeAll(keys: readonly KeyDetails[], now: number): Promise<KeyResource[]> {
    const { store, usage } = this.#parts;
    const used = keys.map((key) => usage.withLastUse(key));
    const keyIds = keys.map(({ keyId }) => keyId);
    const blocked = await store.limits.findBlocked(keyIds, now);
    return used.map((key) => describeKey(key, blocked.has(key.keyId), now));
  }
}

/** What the query asks for; an empty value asks for nothing. */
function parseFilter(query: URLSearchParams, now: number): KeyFilter | Refusal {
  const serverId = parseId(query, "server_id", "srv_");
  if (typeof serverId === "object") return serverId;
  const label = findOnly(query, "label");
  if (label === null || [...(label ?? "")].length > TEXT_LENGTH_MAX)
    return refuseField("label", `must be a part of a label, at most ${TEXT_LENGTH_MAX} characters`);
  const state = parseChoice(query, "state", KEY_STATES);
  if (typeof state === "object") return state;
  const isSearch = Boolean(label) || state !== undefined;
  return { serverId, search: isSearch ? { label: label || undefined, state, now } : undefined };
}
