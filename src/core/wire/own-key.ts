// What a caller sees of its own key, in the fields of the admin API.
import Type from "typebox";
import { KeyResource } from "./key.ts";
import { ServerResource } from "./server.ts";
import type { Static } from "./static.ts";

const { key_id, server_id, label, versions, sections, commands, expires_at } = KeyResource.properties;
const { name: server_name, community } = ServerResource.properties;

export const OwnKeyResource = Type.Object({
  key_id,
  label,
  server_id,
  server_name,
  community,
  versions,
  sections,
  commands,
  expires_at,
});
export type OwnKeyResource = Static<typeof OwnKeyResource>;
