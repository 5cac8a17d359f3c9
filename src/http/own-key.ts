// GET /v2/game/key, with and without the community segment: the rights of the caller's own key. The label, the address list
// and the server's name are for the operator only and are not shown.
import { toSectionNames } from "../core/sections.ts";
import type { OwnKeyResource } from "../core/wire/own-key.ts";
import { answerJson } from "./answers.ts";
import type { Call } from "./call.ts";
import type { Caller } from "./caller-steps.ts";

export function answerOwnKey(_call: Call, { key, server, report }: Caller): Response {
  const { keyId, grant, expiresAt } = key;
  const body: OwnKeyResource = {
    key_id: keyId,
    community: server.community,
    versions: grant.versions,
    sections: toSectionNames(grant.sections),
    commands: grant.commands,
    expires_at: expiresAt,
  };
  return answerJson(body, 200, report);
}
