// People and roles in the admin API, and signing in. In the schema of a request, a field's description completes the error
// message for a wrong value.
import Type from "typebox";
import { ABILITIES, HIDEABLE_FIELDS } from "../keys/rights.ts";
import { PERSON_NAME_MAX } from "../people/person.ts";
import { ROLE_NAME_SHAPE } from "../people/role.ts";
import { SECTIONS } from "../sections.ts";
import { KeyRightFields, UsageResource } from "./key.ts";
import {
  bodyOf,
  changeOf,
  EpochMs,
  GivenServerId,
  orNull,
  ServerId,
  type Static,
  time,
  visibleText,
  YesOrNo,
} from "./values.ts";

export const PersonId = Type.String({ pattern: "^per_[0-9A-Za-z]+$", description: "Id of the person" });
export const SessionId = Type.String({ pattern: "^ses_[0-9A-Za-z]+$", description: "Id of the session" });
export const PasskeyId = Type.String({ pattern: "^psk_[0-9A-Za-z]+$", description: "Id of the passkey" });
const RoleName = Type.String({ pattern: ROLE_NAME_SHAPE.source });

const ServerRoleResource = Type.Object({ server_id: ServerId, role: RoleName });

export const PersonResource = Type.Object({
  person_id: PersonId,
  name: Type.String(),
  is_operator: Type.Boolean({ description: "Whether they may do all that the master key may" }),
  servers: Type.Array(ServerRoleResource, { description: "Their role on each of their servers" }),
  player_id: orNull(Type.String(), "Their id in the game; null when it is not known"),
  chat_id: orNull(Type.String(), "Their id on the chat platform, with which they may sign in; null for none"),
  disabled: Type.Boolean({ description: "Whether they are kept from signing in" }),
  created_at: time("When they were added"),
  last_seen_at: orNull(EpochMs, "When they last used Gatehouse, in epoch milliseconds; null when they never did"),
  passkeys: Type.Integer({ minimum: 0, description: "How many passkeys they have" }),
  sessions: Type.Integer({ minimum: 0, description: "In how many browsers they are signed in" }),
});
export type PersonResource = Static<typeof PersonResource>;

/** A single person, with what a list does not show. */
export const PersonWithUsage = Type.Object({
  ...PersonResource.properties,
  usage: Type.Array(Type.Object({ server_id: ServerId, ...UsageResource.properties }), {
    description: "Of the last 30 days, by server, where there was any",
  }),
});
export type PersonWithUsage = Static<typeof PersonWithUsage>;

const digits = (what: string) =>
  orNull(Type.String({ pattern: "^[0-9]{1,20}$" }), `must be ${what}, 1 to 20 digits, or null`);

const personFields = {
  is_operator: YesOrNo,
  servers: Type.Array(bodyOf({ server_id: ServerId, role: RoleName }), {
    maxItems: 1_000,
    description: "must be a list of {server_id, role}, each server once",
  }),
  player_id: digits("an id of the game"),
  chat_id: digits("an id of the chat platform"),
};

const PersonName = visibleText("a name", PERSON_NAME_MAX);

export const NewPerson = bodyOf({ name: PersonName, ...Type.Partial(Type.Object(personFields)).properties });
export type NewPerson = Static<typeof NewPerson>;

export const PersonUpdate = changeOf({ name: PersonName, ...personFields, disabled: YesOrNo });
export type PersonUpdate = Static<typeof PersonUpdate>;

export const InvitationResource = Type.Object({
  url: Type.String({ description: "Opens the dashboard and signs in, once. It is shown here and never again" }),
  expires_at: time("When it stops working"),
});
export type InvitationResource = Static<typeof InvitationResource>;

export const RoleResource = Type.Object({
  name: RoleName,
  title: Type.String(),
  sections: Type.Array(Type.Enum([...SECTIONS]), { description: "Sections that people with it may read" }),
  hide: Type.Array(Type.Enum([...HIDEABLE_FIELDS]), { description: "What they do not get" }),
  commands: Type.Array(Type.String(), { description: 'Commands they may send; ["*"] is all, [] none' }),
  may: Type.Array(Type.Enum([...ABILITIES]), { description: "What they may do besides" }),
});
export type RoleResource = Static<typeof RoleResource>;

export const RoleList = Type.Object({ items: Type.Array(RoleResource) });
export type RoleList = Static<typeof RoleList>;

export const NewRole = bodyOf({
  title: visibleText("a title"),
  sections: KeyRightFields.sections,
  hide: KeyRightFields.hide,
  commands: KeyRightFields.commands,
  may: Type.Array(Type.Enum([...ABILITIES]), {
    uniqueItems: true,
    description: `must be a list of rights (${ABILITIES.join(", ")}), each once`,
  }),
});
export type NewRole = Static<typeof NewRole>;

/** A browser in which a person is signed in. */
export const PersonSessionResource = Type.Object({
  session_id: SessionId,
  description: Type.String({ description: "Browser and system, as far as they are known; may be empty" }),
  created_at: time("When it was signed in"),
  last_used_at: time("When it was used last"),
  expires_at: time("When it has to sign in again"),
  is_current: Type.Optional(Type.Boolean({ description: "Whether it is the one that asks" })),
});
export type PersonSessionResource = Static<typeof PersonSessionResource>;

export const PasskeyResource = Type.Object({
  passkey_id: PasskeyId,
  label: Type.String({ description: "Browser and system with which it was added" }),
  created_at: time("When it was added"),
  last_used_at: orNull(EpochMs, "When it last signed in, in epoch milliseconds; null when it never did"),
});
export type PasskeyResource = Static<typeof PasskeyResource>;

export const PersonSessionList = Type.Object({ items: Type.Array(PersonSessionResource) });
export type PersonSessionList = Static<typeof PersonSessionList>;

export const PasskeyList = Type.Object({ items: Type.Array(PasskeyResource) });
export type PasskeyList = Static<typeof PasskeyList>;

/** Who is signed in, and where they may go. */
export const MeResource = Type.Object({
  person: PersonResource,
  servers: Type.Array(
    Type.Object({
      server_id: ServerId,
      name: Type.String({ description: "Name of the server" }),
      role: RoleName,
      title: Type.String({ description: "Title of the role" }),
      may: RoleResource.properties.may,
    }),
    { description: "An operator's are all servers, with the role `manager`" },
  ),
  is_operator: Type.Boolean(),
});
export type MeResource = Static<typeof MeResource>;

/** A token of fifteen minutes. */
export const PersonTokenResource = Type.Object({
  token: Type.String({ pattern: "^gts_", description: "A bearer token, until it expires or the session ends" }),
  expires_at: time("When the token expires"),
  expires_in: Type.Integer({ minimum: 0, description: "The same in seconds from now" }),
  server_id: orNull(ServerId, "The server that it is for; null for the admin API, and for what is one's own"),
  session_id: SessionId,
  session_expires_at: time("When the session has to be renewed by signing in"),
});
export type PersonTokenResource = Static<typeof PersonTokenResource>;

/** What the sign-in page can offer at the address where it was opened. */
export const SignInMethods = Type.Object({
  passkeys: Type.Boolean({
    description: "Whether passkeys work here: over HTTPS at the public address, or on localhost",
  }),
  chat: Type.Boolean({ description: "Whether `GET /session/chat` signs in here: at the public address" }),
  admin: Type.Boolean({ description: "Whether the admin API is here, and not at an address for operators only" }),
});
export type SignInMethods = Static<typeof SignInMethods>;

/** What WebAuthn calls PublicKeyCredentialCreationOptionsJSON or PublicKeyCredentialRequestOptionsJSON: for the browser alone. */
export const PasskeyOptions = Type.Object({ challenge: Type.String() }, { additionalProperties: true });

const base64url = (lengthMax: number) => Type.String({ maxLength: lengthMax, pattern: "^[A-Za-z0-9_-]*={0,2}$" });

/** What the browser made of the options, as `@simplewebauthn/browser` and `PublicKeyCredential.toJSON()` write it. */
const credential = <R extends Type.TProperties>(response: R) => ({
  id: base64url(1_400),
  rawId: base64url(1_400),
  type: Type.Literal("public-key"),
  response: Type.Object(response, { description: "must be the response of the authenticator" }),
  clientExtensionResults: Type.Optional(Type.Object({})),
  authenticatorAttachment: Type.Optional(orNull(Type.String({ maxLength: 50 }), "must be a text or null")),
});

export const NewPasskey = bodyOf(
  credential({
    clientDataJSON: base64url(4_000),
    attestationObject: base64url(6_000),
    transports: Type.Optional(Type.Array(Type.String({ maxLength: 30 }), { maxItems: 10 })),
  }),
);
export type NewPasskey = Static<typeof NewPasskey>;

export const PasskeySignIn = bodyOf({
  ...credential({
    clientDataJSON: base64url(4_000),
    authenticatorData: base64url(4_000),
    signature: base64url(4_000),
    userHandle: Type.Optional(orNull(base64url(200), "must be a text or null")),
  }),
  remember: Type.Optional(Type.Boolean({ description: "must be true or false; true when it is left out" })),
});
export type PasskeySignIn = Static<typeof PasskeySignIn>;

/** `{}` is a token for the admin API. */
export const TokenRequest = bodyOf({
  server_id: Type.Optional(GivenServerId),
  own: Type.Optional(
    Type.Boolean({
      description: "must be true, without server_id, for one's own sessions and passkeys and nothing else, or false",
    }),
  ),
});
export type TokenRequest = Static<typeof TokenRequest>;

export const InvitationSignIn = bodyOf({
  secret: Type.String({
    minLength: 1,
    maxLength: 100,
    description: "must be the text at the end of the link, after its last slash",
  }),
  remember: Type.Optional(YesOrNo),
});
export type InvitationSignIn = Static<typeof InvitationSignIn>;
