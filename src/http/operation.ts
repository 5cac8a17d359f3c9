// What an operation of the API is: all that is told about it, and what a request for it must have. Each stands beside its
// handler; the routes, the checks of queries and bodies, and the OpenAPI document are made from it.
import type Type from "typebox";
import type { MaybePromise } from "../core/maybe-promise.ts";
import type { ErrorName } from "../core/wire/error.ts";
import type { Call } from "./call.ts";
import type { HeaderName } from "./openapi/headers.ts";
import type { QueryFields } from "./requests/query-fields.ts";

export type TagName =
  | "Server"
  | "Events"
  | "History"
  | "Players"
  | "Commands"
  | "With a community"
  | "Signing in"
  | "Game servers"
  | "Keys"
  | "People"
  | "Webhooks"
  | "Blocks, commands, audit"
  | "Public status"
  | "Façade"
  | "Service"
  | "Version 1";

export type SecurityName = "apiKey" | "sessionCookie" | "sessionToken" | "masterKey" | "metricsToken" | "facadeKey";

export type Parameter = {
  readonly name: string;
  readonly in: "query" | "path" | "header";
  readonly description: string;
  readonly schema: Type.TSchema;
  readonly example?: unknown;
};

export type Example = { readonly summary: string; readonly value: unknown };
export type Examples = Readonly<Record<string, Example>>;

/** An answer without a schema has no body. */
export type Answer = {
  readonly description: string;
  /** For an error that is answered otherwise than everywhere: its description comes before this one. */
  readonly error?: ErrorName;
  /** Without those of the rate limit. `Cache-Control` alone by default. */
  readonly headers?: readonly HeaderName[];
  readonly schema?: Type.TSchema;
  /** JSON by default. */
  readonly mediaType?: string | readonly string[];
  readonly examples?: Examples;
};

export type RequestBody<S extends Type.TSchema = Type.TSchema> = {
  readonly schema: S;
  readonly isRequired: boolean;
  readonly examples: Examples;
  /** JSON by default. */
  readonly mediaType?: readonly string[];
};

/** What stands beside the handler. The step before it adds who may call it, and the errors of that step. */
export type Definition = {
  readonly id: string;
  readonly tag: TagName;
  readonly summary: string;
  readonly description?: string;
  /** Checked before the handler runs, or by it. */
  readonly query?: QueryFields;
  /** Further parameters, whose values are never wrong, or are judged elsewhere. */
  readonly parameters?: readonly Parameter[];
  readonly body?: RequestBody;
  readonly answers: Readonly<Record<number, Answer>>;
  readonly errors?: readonly ErrorName[];
};

export type Operation = Definition & {
  /** One of these is required; "optional" means that none is. */
  readonly security: readonly (SecurityName | "optional")[];
  readonly errors: readonly ErrorName[];
  /** Whether its answers have the headers of the rate limit; `ofKeys`: those to a key. */
  readonly isCounted?: boolean | "ofKeys";
  readonly isDeprecated?: boolean;
};

/** The errors of every JSON body. */
export const BODY_ERRORS: readonly ErrorName[] = [
  "invalidJson",
  "invalidRequest",
  "payloadTooLarge",
  "unsupportedMediaType",
];

/** The handler with its operation. `stepErrors` are those of the step before it. */
export function withOperation(
  handle: (call: Call) => ReturnType<Handler>,
  definition: Definition,
  security: Operation["security"],
  stepErrors: readonly ErrorName[] = [],
  isCounted: Operation["isCounted"] = false,
): Handler {
  const { body, errors = [] } = definition;
  const bodyErrors = body && !body.mediaType ? BODY_ERRORS : [];
  const operation = { ...definition, security, errors: [...stepErrors, ...bodyErrors, ...errors], isCounted };
  return Object.assign(handle, { operation });
}

/** An answer with one example. */
export function shows(description: string, schema: Type.TSchema, value: unknown, summary = description): Answer {
  return { description, schema, examples: { example: { summary, value } } };
}

/** An answer with several examples, or one of another name; each has its summary and its value. */
export function showsEach(
  description: string,
  schema: Type.TSchema,
  examples: Readonly<Record<string, readonly [summary: string, value: unknown]>>,
): Answer {
  const entries = Object.entries(examples).map(([name, [summary, value]]) => [name, { summary, value }]);
  return { description, schema, examples: Object.fromEntries(entries) };
}

export function takes<S extends Type.TSchema>(schema: S, value: unknown): RequestBody<S> {
  return { schema, isRequired: true, examples: { example: { summary: "An example", value } } };
}

/** The status of an answer that is no error. */
export function statusOf({ answers }: Pick<Definition, "answers">): number {
  const [first = "200"] = Object.keys(answers);
  return Number(first);
}

export const UNCHANGED = "Nothing has changed since the answer with the `ETag` that you sent.";

export interface Handler {
  (call: Call): MaybePromise<Response>;
  /** What the OpenAPI document says about it; undefined for pages and the façade. */
  readonly operation?: Operation;
}

/** For everybody, unless `security` says what its handler asks for. `Deps` is what it works with. */
export type OpenOperation<Deps> = Definition & {
  readonly security?: Operation["security"];
  readonly isCounted?: boolean;
  readonly answer: (deps: Deps, call: Call) => MaybePromise<Response>;
};
