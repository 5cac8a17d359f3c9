// The description of one method of one path, in a form shorter than OpenAPI's.
import type Type from "typebox";
import type { ErrorName } from "../../core/wire/error.ts";
import type { HeaderName } from "./headers.ts";

export type TagName =
  | "Server"
  | "Events"
  | "History"
  | "Commands"
  | "With a community"
  | "Signing in"
  | "Game servers"
  | "Keys"
  | "Webhooks"
  | "Blocks, commands, audit"
  | "Public status"
  | "Service"
  | "Version 1";

/** Whom a document is for. Callers get only what can be used with an API key or without any. */
export type Audience = "everybody" | "callers";

export type SecurityName = "apiKey" | "deviceCookie" | "masterKey" | "metricsToken";

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
  readonly headers?: readonly HeaderName[];
  readonly schema?: Type.TSchema;
  /** JSON by default. */
  readonly mediaType?: string | readonly string[];
  readonly examples?: Examples;
};

export type Operation = {
  readonly id: string;
  readonly tag: TagName;
  readonly summary: string;
  readonly description?: string;
  readonly isDeprecated?: boolean;
  /** One of these is required; "optional" means that none is. */
  readonly security: readonly (SecurityName | "optional")[];
  readonly parameters?: readonly Parameter[];
  readonly body?: {
    readonly schema: Type.TSchema;
    readonly isRequired: boolean;
    readonly examples: Examples;
    /** JSON by default. */
    readonly mediaType?: readonly string[];
  };
  readonly answers: Readonly<Record<number, Answer>>;
  readonly errors: readonly ErrorName[];
  /** Whether its answers have the headers of the rate limit. */
  readonly isCounted?: boolean;
};

/** By method and path, as in the route table: `GET /admin/keys/:id`. */
export type Operations = Readonly<Record<string, Operation>>;
