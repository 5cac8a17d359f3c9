// Schemas of single values that more than one resource has: ids, times, texts, who did something, and values that may be null.
import Type from "typebox";
import { WHO_KINDS } from "../people/who.ts";

/** The type of a schema, read-only at every depth, because bodies are never changed. */
export type Static<S extends Type.TSchema> = DeepReadonly<Type.Static<S>>;

type DeepReadonly<T> = T extends object ? { readonly [Name in keyof T]: DeepReadonly<T[Name]> } : T;

export const ServerId = Type.String({ pattern: "^srv_[0-9A-Za-z]+$", description: "Id of the game server" });
export const KeyId = Type.String({ pattern: "^key_[0-9A-Za-z]+$", description: "Id of the key" });
export const CommandId = Type.String({ pattern: "^cmd_[0-9A-Za-z]+$", description: "Id of the command" });

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

export const Count = Type.Integer({ minimum: 0 });

/** A field of a request, as is `GivenServerId`. */
export const YesOrNo = Type.Boolean({ description: "must be true or false" });
export const GivenServerId = Type.String({
  pattern: "^srv_[0-9A-Za-z]{1,64}$",
  description: "must be the id of a server (srv_…)",
});

/** The body of a request. A field that it does not name is refused. */
export function bodyOf<P extends Type.TProperties>(fields: P) {
  return Type.Object(fields, { additionalProperties: false });
}

/** The body of a change: every field may be left out. */
export function changeOf<P extends Type.TProperties>(fields: P) {
  return Type.Partial(Type.Object(fields), { additionalProperties: false });
}

/** No control characters, no line separators, no lone surrogates, and at least one character that is not white space. */
const VISIBLE_TEXT =
  "^(?=[\\s\\S]*\\S)(?:[^\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ud800-\\udfff]|[\\ud800-\\udbff][\\udc00-\\udfff])+$";

export const TEXT_LENGTH_MAX = 100;

/** A text that an operator chooses; `what` names it in the error message. */
export function visibleText(what: string, lengthMax = TEXT_LENGTH_MAX) {
  return Type.String({
    minLength: 1,
    maxLength: lengthMax,
    pattern: VISIBLE_TEXT,
    description: `must be ${what} of 1 to ${lengthMax} characters, without control characters`,
  });
}

export const WhoResource = Type.Object({
  kind: Type.Enum([...WHO_KINDS]),
  id: Type.String({ description: "Id of the person or key" }),
  name: Type.String({ description: "The person's name or the key's label at that time" }),
});
/** Who sends a command. */
export const SenderResource = Type.Object({
  kind: Type.Enum(["person", "key"]),
  id: Type.String({ description: "Id of the person or key" }),
  name: Type.String({ description: "The person's name or the key's label at that time" }),
});

export type WhoResource = Static<typeof WhoResource>;
