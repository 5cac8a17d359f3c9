// Spam blocks in the admin API.
import Type from "typebox";
import type { Static } from "./static.ts";
import { KeyId, ServerId, time } from "./values.ts";

/** Server and label are null when the key no longer exists. */
export const BlockResource = Type.Object({
  key_id: KeyId,
  server_id: Type.Union([ServerId, Type.Null()]),
  label: Type.Union([Type.String(), Type.Null()]),
  blocked_until: time("When the block ends"),
});
export type BlockResource = Static<typeof BlockResource>;
