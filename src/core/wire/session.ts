// Signing in from a browser: session tokens, the devices that are signed in with a key, and one-time links.
import Type from "typebox";
import type { Static } from "./static.ts";
import { DeviceId, EpochMs, KeyId, orNull, time } from "./values.ts";

/** No secret of ours is longer. */
const SECRET_LENGTH_MAX = 100;

export const SessionResource = Type.Object({
  token: Type.String({
    pattern: "^gts_[0-9A-Za-z_-]{72}$",
    description: "A bearer token that works as the key does, until it expires or the device ends",
  }),
  expires_at: time("When the token expires"),
  expires_in: Type.Integer({ minimum: 0, description: "The same in seconds from now" }),
  key_id: KeyId,
  device_id: DeviceId,
  device_expires_at: time("When the device has to sign in again"),
});
export type SessionResource = Static<typeof SessionResource>;

export const LinkSignIn = Type.Object(
  {
    link: Type.String({
      minLength: 1,
      maxLength: SECRET_LENGTH_MAX,
      description: "must be the text at the end of the link, after its last slash",
    }),
    remember: Type.Optional(Type.Boolean({ description: "must be true or false" })),
  },
  { additionalProperties: false },
);
export type LinkSignIn = Static<typeof LinkSignIn>;

export const DeviceResource = Type.Object({
  device_id: DeviceId,
  created_at: time("When it was signed in"),
  last_used_at: orNull(
    EpochMs,
    "When it last got a token, in epoch milliseconds; null when it never came back",
  ),
  expires_at: time("When it has to sign in again"),
  description: Type.String({ description: "Browser and system, as far as they are known; may be empty" }),
});
export type DeviceResource = Static<typeof DeviceResource>;

export const DeviceList = Type.Object({ items: Type.Array(DeviceResource) });
export type DeviceList = Static<typeof DeviceList>;

export const LinkResource = Type.Object({
  url: Type.String({
    description: "Opens the dashboard and signs in, once. It is shown here and never again",
  }),
  expires_at: time("When it stops working"),
});
export type LinkResource = Static<typeof LinkResource>;
