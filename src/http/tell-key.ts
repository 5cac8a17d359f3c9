// GET /v2/game/key, with and without the community segment: what the caller's own key may do. What its operator wrote down
// for himself, the label, the addresses and the server's name, is not for whoever holds it.
import { toSectionNames } from "../core/sections.ts";
import { answerJson } from "./answers.ts";
import type { CallerHandler } from "./caller-only.ts";

export const tellKey: CallerHandler = (_call, { key, server, report }) => {
  const body = {
    key_id: key.keyId,
    community: server.community,
    versions: key.versions,
    sections: toSectionNames(key.sections),
    commands: key.commands,
    expires_at: key.expiresAt,
  };
  return answerJson(body, 200, report);
};
