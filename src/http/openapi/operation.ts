// What the document says about one method of one path, in our own short form.
import type Type from "typebox";
import type { ErrorName } from "../../core/wire/error.ts";
import type { HeaderName } from "./headers.ts";

export type TagName =
  | "Server"
  | "Commands"
  | "With a community"
  | "Game servers"
  | "Keys"
  | "Blocks, commands, audit"
  | "Service"
  | "Version 1";

export type SecurityName = "apiKey" | "masterKey" | "metricsToken";

export type Parameter = {
  readonly name: string;
  readonly in: "query" | "path" | "header";
  readonly description: string;
  readonly schema: Type.TSchema;
  readonly example?: unknown;
};

export type Example = { readonly summary: string; readonly value: unknown };
export type Examples = Readonly<Record<string, Example>>;

/** Without a schema there is no body. */
export type Answer = {
  readonly description: string;
  readonly headers?: readonly HeaderName[];
  readonly schema?: Type.TSchema;
  readonly mediaType?: string;
  readonly examples?: Examples;
};

export type Operation = {
  readonly id: string;
  readonly tag: TagName;
  readonly summary: string;
  readonly description?: string;
  readonly isDeprecated?: boolean;
  /** Any one of these is enough; with "optional", none is needed either. */
  readonly security: readonly (SecurityName | "optional")[];
  readonly parameters?: readonly Parameter[];
  readonly body?: {
    readonly schema: Type.TSchema;
    readonly isRequired: boolean;
    readonly examples: Examples;
  };
  readonly answers: Readonly<Record<number, Answer>>;
  readonly errors: readonly ErrorName[];
  /** Whether its answers tell how much of the limit is left. */
  readonly isCounted?: boolean;
};

/** By method and path, as the route table writes them: `GET /admin/keys/:id`. */
export type Operations = Readonly<Record<string, Operation>>;
