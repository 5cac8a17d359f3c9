// GET /v2/game/key, with and without the community segment: what the caller's own key is and may do. The address list is for
// the operator only and is not shown.
import type { KeyStore } from "../core/ports/keys.ts";
import { toSectionNames } from "../core/sections.ts";
import type { OwnKeyResource } from "../core/wire/own-key.ts";
import { INVALID_TOKEN } from "../gateway/keys/authenticate.ts";
import { answerJson, answerRefusal } from "./answers.ts";
import type { Call } from "./call.ts";
import type { Caller } from "./caller-steps.ts";

export class OwnKeyHandler {
  readonly #keys: Pick<KeyStore, "findLabel">;

  constructor(keys: Pick<KeyStore, "findLabel">) {
    this.#keys = keys;
  }

  answer(call: Call, { key, server, report }: Caller): Response {
    const { keyId, grant, expiresAt } = key;
    const label = this.#keys.findLabel(keyId);
    if (label === undefined) return answerRefusal(call, INVALID_TOKEN);
    const body: OwnKeyResource = {
      key_id: keyId,
      label,
      server_id: server.serverId,
      server_name: server.name,
      community: server.community,
      versions: grant.versions,
      sections: toSectionNames(grant.sections),
      commands: grant.commands,
      expires_at: expiresAt,
    };
    return answerJson(body, 200, report);
  }
}
