// GET /v2/game/key, with and without the community segment: what the caller's own key is and may do. The address list is for
// the operator only and is not shown.
import { toAbilityNames, toHiddenNames } from "../../core/keys/rights.ts";
import { toSectionNames } from "../../core/sections.ts";
import { OwnKeyResource } from "../../core/wire/key.ts";
import { KEY } from "../admin/keys.ts";
import { SERVER } from "../admin/servers.ts";
import { answerJson } from "../answers.ts";
import { showsEach } from "../operation.ts";
import type { CallerOperation } from "../steps/caller-steps.ts";

const { key_id, label, server_id, versions, sections, commands, hide } = KEY;
const { name: server_name, community } = SERVER;
const RIGHTS = { versions, sections, commands, hide, may: ["claim", "notes"] };
const OWN_KEY = { key_id, label, server_id, server_name, community, ...RIGHTS, expires_at: null };
const BARE_OWN_KEY = { ...OWN_KEY, sections: [], commands: [], may: [], expires_at: 1_797_314_314_688 };

export const readOwnKey: CallerOperation<unknown> = {
  id: "tellKey",
  tag: "Server",
  summary: "Ask what your key may do",
  description:
    "The rights of the key that the request comes with, so that a program need not find them out by being refused. The game API is not asked. Counts like any read.",
  answers: {
    200: showsEach("The key's own rights.", OwnKeyResource, {
      some: ["Two sections, two commands", OWN_KEY],
      bare: ["The server itself and nothing else, for a time", BARE_OWN_KEY],
    }),
  },
  answer(_handlers, _call, { key, server, report }) {
    const { keyId, label, grant, expiresAt } = key;
    const body: OwnKeyResource = {
      key_id: keyId,
      label,
      server_id: server.serverId,
      server_name: server.name,
      community: server.community,
      versions: grant.versions,
      sections: toSectionNames(grant.sections),
      commands: grant.commands,
      hide: toHiddenNames(grant.hide),
      may: toAbilityNames(grant.may),
      expires_at: expiresAt,
    };
    return answerJson(body, 200, report);
  },
};
