// /admin/keys: the API keys and how much they are used.
import { isRefusal } from "../../core/errors.ts";
import type { Actor } from "../../core/ports/audit.ts";
import type { KeyDetails } from "../../core/ports/keys.ts";
import type { PageRequest } from "../../core/ports/pages.ts";
import { NOT_FOUND } from "../../core/refuse-field.ts";
import {
  type KeyResource,
  KeyUpdate,
  type KeyWithToken,
  type KeyWithUsage,
  NewKey,
  type RotatedKey,
  Rotation,
} from "../../core/wire/key.ts";
import {
  changeKey,
  createKey,
  describeKey,
  type KeyParts,
  revokeKey,
  rotateKey,
} from "../../gateway/keys/manage-keys.ts";
import { HOUR_MS, type UsageMeter } from "../../gateway/keys/usage-meter.ts";
import { answerJson, answerRefusal } from "../answers.ts";
import type { Call } from "../call.ts";
import { describeUsage } from "../describe-resources.ts";
import { parseBody, parseId, pathIdOf, queryOf } from "../parse-request.ts";
import { answerDone, answerOutcome, answerPage } from "./answer-operator.ts";
import type { Mutex } from "./mutex.ts";

export type KeyHandlersParts = KeyParts & {
  readonly changes: Mutex;
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
    const serverId = parseId(queryOf(call), "server_id", "srv_");
    if (typeof serverId === "object") return answerRefusal(call, serverId);
    const read = (page: PageRequest) => store.keys.list({ ...page, ...(serverId && { serverId }) });
    return answerPage(call, read, (key) => this.#describe(key));
  }

  async create(call: Call, actor: Actor): Promise<Response> {
    const request = await parseBody(call, NewKey);
    if (isRefusal(request)) return answerRefusal(call, request);
    const created = await this.#parts.changes.run(() =>
      createKey(this.#parts, request.value, actor, call.now),
    );
    return answerOutcome(
      call,
      created,
      ({ key, token }): KeyWithToken => ({ ...describeKey(key), token }),
      201,
    );
  }

  async show(call: Call): Promise<Response> {
    const { store, usage, usageMs } = this.#parts;
    const key = (await store.keys.findDetails(pathIdOf(call))) ?? NOT_FOUND;
    if (isRefusal(key)) return answerRefusal(call, key);
    const since = call.now - (call.now % HOUR_MS) - usageMs + HOUR_MS;
    // Before the counts are read, because a flush meanwhile could move the last use to the store after `key` was read.
    const described = this.#describe(key);
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
    const changed = await changes.run(() =>
      changeKey(this.#parts, pathIdOf(call), request.value, actor, call.now),
    );
    return answerOutcome(call, changed, (key) => this.#describe(key));
  }

  async revoke(call: Call, actor: Actor): Promise<Response> {
    const refusal = await this.#parts.changes.run(() =>
      revokeKey(this.#parts, pathIdOf(call), actor, call.now),
    );
    return answerDone(call, refusal);
  }

  async rotate(call: Call, actor: Actor): Promise<Response> {
    const keyId = pathIdOf(call);
    const request = await parseBody(call, Rotation, {});
    if (isRefusal(request)) return answerRefusal(call, request);
    const rotated = await this.#parts.changes.run(() =>
      rotateKey(this.#parts, keyId, request.value, actor, call.now),
    );
    return answerOutcome(call, rotated, ({ token, oldValidUntil }): RotatedKey => {
      return { key_id: keyId, token, old_token_valid_until: oldValidUntil };
    });
  }

  /** The last use that is not written yet is shown too. */
  #describe(key: KeyDetails): KeyResource {
    return describeKey(this.#parts.usage.withLastUse(key));
  }
}
