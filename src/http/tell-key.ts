// GET /v2/game/key, with and without the community segment: what the caller's own key may do. What its operator wrote down
// for himself, the label, the addresses and the server's name, is not for whoever holds it.
import { toSectionNames } from "../core/sections.ts";
import { answerJson } from "./answers.ts";
import type { CallerHandler } from "./caller-only.ts";

export const tellKey: CallerHandler = (_call, { key, server, report }) => {
  const { keyId, grant, expiresAt } = key;
  const body = {
    key_id: keyId,
    community: server.community,
    versions: grant.versions,
    sections: toSectionNames(grant.sections),
    commands: grant.commands,
    expires_at: expiresAt,
  };
  return answerJson(body, 200, report);
};
