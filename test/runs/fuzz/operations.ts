// The operations that are fuzzed: those of the served OpenAPI document, so that new routes are included by themselves, and
// those that it leaves to other documents: the façade and the pages.
import type { createWitness } from "../../journeys/openapi-witness.ts";
import type { Schema } from "./values.ts";

type Json = Readonly<Record<string, unknown>>;

export type Parameter = {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly schema: Schema;
};

export type FuzzedOperation = {
  readonly id: string;
  readonly kind: "api" | "facade" | "page";
  readonly method: string;
  readonly template: string;
  readonly parameters: readonly Parameter[];
  /** Undefined when it takes no body. */
  readonly body: { readonly mediaTypes: readonly string[]; readonly schema: Schema } | undefined;
  /** The names of the ways to sign in. */
  readonly security: readonly string[];
  /** Whether a run must see it succeed. */
  readonly canSucceed: boolean;
};

const SECTIONS: readonly Parameter[] = ["Players", "Staff", "Queue", "Vehicles"].map((name) => ({
  name,
  in: "query",
  schema: { type: "boolean" },
}));
const COMMAND = {
  mediaTypes: ["application/json"],
  schema: { type: "object", required: ["command"], properties: { command: { type: "string" } } },
};
const V1 = ["", "/players", "/staff", "/joinlogs", "/queue", "/killlogs", "/commandlogs", "/modcalls", "/vehicles"];

/** docs/facade.md describes these. */
const FACADE: readonly FuzzedOperation[] = [
  facade("GET", "/v2/server"),
  ...V1.map((name) => facade("GET", `/erlc/v1/server${name}`)),
  facade("GET", "/erlc/v1/server/bans", false),
  facade("POST", "/v2/server/command"),
  facade("POST", "/erlc/v1/server/command"),
];

const PAGES: readonly FuzzedOperation[] = [
  page("/"),
  page("/docs"),
  page("/status"),
  page("/status/{slug}"),
  page("/assets/{file}", false),
  page("/docs/{file}", false),
];

function facade(method: string, template: string, canSucceed = true): FuzzedOperation {
  const isCommand = method === "POST";
  return {
    id: `facade ${method} ${template}`,
    kind: "facade",
    method,
    template,
    parameters: isCommand ? [] : SECTIONS,
    body: isCommand ? COMMAND : undefined,
    security: ["facade"],
    canSucceed,
  };
}

function page(template: string, canSucceed = true): FuzzedOperation {
  const parameters = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => {
    return { name, in: "path" as const, schema: { type: "string" } };
  });
  return {
    id: `page ${template}`,
    kind: "page",
    method: "GET",
    template,
    parameters,
    body: undefined,
    security: [],
    canSucceed,
  };
}

/** Nobody has an authenticator here, and roles and sessions of others are rarely found by chance. */
const NEEDS_MORE = /passkeys?\b|\/roles\/|\/people\/\{person_id\}\/sessions\/|^\/session\/sessions\/\{/;

export function listOperations(document: Json): FuzzedOperation[] {
  const follow = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(follow);
    if (typeof value !== "object" || value === null) return value;
    if ("$ref" in value) {
      const path = String(value.$ref).slice("#/".length).split("/");
      return follow(path.reduce<unknown>((place, key) => (place as Json)[key], document));
    }
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, follow(part)]));
  };
  const api = Object.entries(document.paths as Json).flatMap(([template, item]) =>
    Object.entries(item as Json).map(([method, operation]): FuzzedOperation => {
      const { operationId, parameters = [], requestBody, security, responses } = operation as Json;
      const content = (requestBody as Json | undefined)?.content as Json | undefined;
      const [media] = Object.values(content ?? {}) as { schema: unknown }[];
      return {
        id: String(operationId),
        kind: "api",
        method: method.toUpperCase(),
        template,
        parameters: follow(parameters) as Parameter[],
        body: media && {
          mediaTypes: Object.keys(content ?? {}),
          schema: follow(media.schema) as Schema,
        },
        security: (security as Json[]).flatMap((way) => Object.keys(way)),
        canSucceed: Object.keys(responses as Json).some((status) => Number(status) < 300) && !NEEDS_MORE.test(template),
      };
    }),
  );
  return [...api, ...FACADE, ...PAGES];
}

export type Witness = ReturnType<typeof createWitness>;

/** The operation that a path, as it was sent, leads to. */
export class OperationFinder {
  readonly #patterns: { readonly pattern: RegExp; readonly operation: FuzzedOperation }[];

  constructor(operations: readonly FuzzedOperation[]) {
    this.#patterns = operations.map((operation) => {
      const source = operation.template
        .split(/(\{\w+\})/)
        .map((part) => (part.startsWith("{") ? "[^/]+" : RegExp.escape(part)))
        .join("");
      return { pattern: new RegExp(`^${source}$`), operation };
    });
  }

  /** All with this path, whatever their method. */
  find(path: string): FuzzedOperation[] {
    return this.#patterns.filter(({ pattern }) => pattern.test(path)).map(({ operation }) => operation);
  }
}
