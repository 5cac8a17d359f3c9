// Schemas of single values that more than one resource has: ids, times, texts, and values that may be null.
import Type from "typebox";

export const ServerId = Type.String({ pattern: "^srv_[0-9A-Za-z]+$", description: "Id of the game server" });
export const KeyId = Type.String({ pattern: "^key_[0-9A-Za-z]+$", description: "Id of the key" });
export const CommandId = Type.String({ pattern: "^cmd_[0-9A-Za-z]+$", description: "Id of the command" });

export const DeviceId = Type.String({ pattern: "^dev_[0-9A-Za-z]+$", description: "Id of the device" });

/** A place in a server's ledger; the id of an event is the place of that event. */
export const EventCursor = Type.String({
  pattern: "^[A-Za-z0-9_-]{1,64}$",
  description: "A cursor: send it as `after` to get what follows it",
});

export const EpochMs = Type.Integer({ format: "int64" });

/** A time; its description ends with the unit. */
export function time(description: string) {
  return Type.Integer({ format: "int64", description: `${description}, in epoch milliseconds` });
}

export function orNull<S extends Type.TSchema>(schema: S, description: string) {
  return Type.Union([schema, Type.Null()], { description });
}

/** No control characters, no line separators, no lone surrogates, and at least one character that is not white space. */
const VISIBLE_TEXT =
  "^(?=[\\s\\S]*\\S)(?:[^\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ud800-\\udfff]|[\\ud800-\\udbff][\\udc00-\\udfff])+$";

export const TEXT_LENGTH_MAX = 100;

/** A text that an operator chooses; `what` names it in the error message. */
export function visibleText(what: string) {
  return Type.String({
    minLength: 1,
    maxLength: TEXT_LENGTH_MAX,
    pattern: VISIBLE_TEXT,
    description: `must be ${what} of 1 to ${TEXT_LENGTH_MAX} characters, without control characters`,
  });
}
