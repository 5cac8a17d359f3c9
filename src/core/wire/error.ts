// Error bodies on the wire: code and message from the table of errors, and the additional fields of some errors.
import Type from "typebox";
import { ERRORS } from "../errors.ts";
import { FORBIDDEN_REASONS, VERSIONS } from "../keys/api-key.ts";
import { LIMIT_PER_WINDOW } from "../keys/rate-limit.ts";
import { HIDEABLE_FIELDS } from "../keys/rights.ts";
import { SECTIONS } from "../sections.ts";
import { Notice } from "./health.ts";
import { EventCursor, type Static, time, WhoResource } from "./values.ts";

export type ErrorName = keyof typeof ERRORS;

const RetryAfter = Type.Integer({ minimum: 1, description: "Seconds to wait" });
const Details = Type.Record(Type.String(), Type.String(), {
  description: "What is wrong with each field, by its name",
});

const ConflictDetails = Type.Record(Type.String(), Type.Union([Type.String(), WhoResource]), {
  description: "What stands against it, by its name; `claimed_by` is who has claimed a call",
});

const Reasons = Type.Optional(
  Type.Record(Type.String(), Type.Object({ code: Type.String(), position: Type.Optional(Type.Integer()) }), {
    description: "The same for programs: one word for each field, and which entry of a list is meant",
  }),
);

const FIELDS = {
  forbidden: {
    details: Type.Object({
      reason: Type.Enum([...FORBIDDEN_REASONS], {
        description:
          "Why: the key is suspended, your address is not on its list, the community is another server's, the key may not send this command (or, for claims and notes, any), the person's role does not allow it, or (while signing in) another page sends the request",
      }),
      seen: Type.Optional(Type.String({ description: "With `address`: the address the request came from" })),
    }),
  },
  versionForbidden: {
    details: Type.Object({
      versions: Type.Array(Type.Enum([...VERSIONS]), { description: "The versions the key may use" }),
    }),
  },
  sectionForbidden: {
    details: Type.Object({
      sections: Type.Array(Type.Enum([...SECTIONS]), { description: "The sections that were refused" }),
      hidden: Type.Optional(
        Type.Array(Type.Enum([...HIDEABLE_FIELDS]), {
          description: "The fields of these sections that are needed and hidden from the key",
        }),
      ),
    }),
  },
  queueFull: { retry_after: RetryAfter },
  rateLimited: {
    retry_after: RetryAfter,
    details: Type.Object({
      limit: Type.Literal(LIMIT_PER_WINDOW, { description: "Requests a minute" }),
      count: Type.Integer({ description: "Requests in this window, this one included" }),
      excess: Type.Integer({ minimum: 1, description: "Requests over the limit" }),
      reset_at: time("When the window ends"),
    }),
  },
  addressLimited: { retry_after: RetryAfter },
  internal: { request_id: Type.String({ description: "What the operator needs to find it in the log" }) },
  gameApi: {
    upstream_code: Type.Integer({ minimum: 0, description: "The game API's code; 0 when it gave none" }),
    upstream_message: Type.String({ maxLength: 500, description: "What the game API said, cleaned" }),
  },
  spamBlocked: { blocked_until: time("When the block ends"), retry_after: RetryAfter },
  invalidRequest: { details: Details, reasons: Reasons },
  conflict: { details: ConflictDetails, reasons: Reasons },
  upgradeRequired: { details: Details },
  unavailable: {
    retry_after: RetryAfter,
    details: Type.Optional(Details),
    notices: Type.Optional(Type.Array(Notice, { description: "Of `/readyz`: what is not well" })),
  },
  tooManyAttempts: { retry_after: RetryAfter },
  cursorExpired: { oldest: EventCursor },
  tooManyStreams: { retry_after: RetryAfter },
  notConfigured: {
    details: Type.Optional(
      Type.Object({ address: Type.String({ description: "While signing in: the address at which passkeys work" }) }),
    ),
  },
} satisfies { readonly [Name in ErrorName]?: Type.TProperties };

/** The additional fields of each error, by the error's name. */
export type ErrorFields = {
  readonly [Name in keyof typeof FIELDS]: Static<Type.TObject<(typeof FIELDS)[Name]>>;
};

type FieldName = { [Name in keyof ErrorFields]: keyof ErrorFields[Name] }[keyof ErrorFields];

/** An error body as it arrives, before its fields are checked. */
export type UncheckedErrorBody = { readonly [Name in "code" | "message" | FieldName]?: unknown };

/** The schema of one error's body. */
export function schemaOfError(name: ErrorName): Type.TObject {
  const { code, message } = ERRORS[name];
  const fields: Type.TProperties = name in FIELDS ? FIELDS[name as keyof typeof FIELDS] : {};
  return Type.Object({ code: Type.Literal(code), message: Type.Literal(message), ...fields });
}
