// Entries of the audit log in the admin API.
import Type from "typebox";
import type { Static } from "./static.ts";
import { time } from "./values.ts";

const Fields = Type.Record(Type.String(), Type.Unknown());

export const AuditEntryResource = Type.Object({
  id: Type.String(),
  at: time("When it was done"),
  action: Type.String({ description: "server.created, key.revoked, block.lifted and so on" }),
  actor: Type.Object({
    fingerprint: Type.String({
      description:
        "Tells master keys apart; cannot be turned back into one. The id of an API key when its holder signed a device in or out",
    }),
    address: Type.String({ description: "Where the request came from" }),
  }),
  target: Type.String({ description: "Id of what was changed" }),
  details: Type.Object(
    { before: Type.Optional(Fields), after: Type.Optional(Fields) },
    { description: "What changed, as it was and as it is; never a secret" },
  ),
});
export type AuditEntryResource = Static<typeof AuditEntryResource>;
