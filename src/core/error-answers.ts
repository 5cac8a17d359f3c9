// The body of every error as a TypeBox schema: code and message from the table, and what each tells beyond them.
import Type from "typebox";
import { ERRORS } from "./errors.ts";
import { LIMIT_PER_WINDOW } from "./rate-limit.ts";

export type ErrorName = keyof typeof ERRORS;

const RetryAfter = Type.Integer({ minimum: 1, description: "Seconds to wait" });
const Details = Type.Record(Type.String(), Type.String(), {
  description: "What is wrong with each field, by its name",
});

const FIELDS: { readonly [Name in ErrorName]?: Readonly<Record<string, Type.TSchema>> } = {
  queueFull: { retry_after: RetryAfter },
  rateLimited: {
    retry_after: RetryAfter,
    details: Type.Object({
      limit: Type.Literal(LIMIT_PER_WINDOW, { description: "Requests a minute" }),
      count: Type.Integer({ description: "Requests in this window, this one included" }),
      excess: Type.Integer({ minimum: 1, description: "Requests over the limit" }),
      reset_at: Type.Integer({
        format: "int64",
        description: "When the window ends, in epoch milliseconds",
      }),
    }),
  },
  internal: { request_id: Type.String({ description: "What the operator needs to find it in the log" }) },
  gameApi: {
    upstream_code: Type.Integer({ minimum: 0, description: "The game API's code; 0 when it gave none" }),
    upstream_message: Type.String({ maxLength: 500, description: "What the game API said, cleaned" }),
  },
  spamBlocked: {
    blocked_until: Type.Integer({
      format: "int64",
      description: "When the block ends, in epoch milliseconds",
    }),
    retry_after: RetryAfter,
  },
  invalidRequest: { details: Details },
  conflict: { details: Details },
  unavailable: { retry_after: RetryAfter, details: Type.Optional(Details) },
  tooManyAttempts: { retry_after: RetryAfter },
};

/** The schema of one error's body. */
export function schemaOfError(name: ErrorName): Type.TObject {
  const { code, message } = ERRORS[name];
  return Type.Object({
    code: Type.Literal(code),
    message: Type.Literal(message),
    ...FIELDS[name],
  });
}
