// Entries of the audit log in the admin API.
import Type from "typebox";
import { type Static, time, WhoResource } from "./values.ts";

const Fields = Type.Record(Type.String(), Type.Unknown());

export const AuditEntryResource = Type.Object({
  id: Type.String(),
  at: time("When it was done"),
  action: Type.String({ description: "server.created, key.revoked, block.lifted and so on" }),
  actor: Type.Object({
    ...WhoResource.properties,
    address: Type.String({ description: "Where the request came from; empty for what Gatehouse did by itself" }),
  }),
  target: Type.String({ description: "Id of what was changed" }),
  details: Type.Object(
    { before: Type.Optional(Fields), after: Type.Optional(Fields) },
    { description: "What changed, as it was and as it is; never a secret" },
  ),
});
export type AuditEntryResource = Static<typeof AuditEntryResource>;
