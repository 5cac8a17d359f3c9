// Builds the OpenAPI document from the route table, the operations and the schemas.
import type { ErrorName } from "../../core/wire/error.ts";
import type { Method, Route } from "../router.ts";
import { METHODS } from "../router.ts";
import { ADMIN_OPERATIONS } from "./admin-operations.ts";
import { Schemas } from "./components.ts";
import { describeErrors, type ErrorResponse, groupErrors } from "./error-responses.ts";
import { type HeaderName, headerOf } from "./headers.ts";
import { HOOK_OPERATIONS } from "./hook-operations.ts";
import { describeService, SECURITY_SCHEMES, TAG_GROUPS, TAGS } from "./introduction.ts";
import { LEGACY_OPERATIONS } from "./legacy-operations.ts";
import type { Answer, Audience, Examples, Operation, Operations, Parameter, TagName } from "./operation.ts";
import { DEVICE_ID, idParameterOf } from "./parameters.ts";
import { PUBLIC_OPERATIONS } from "./public-operations.ts";
import { SERVICE_OPERATIONS } from "./service-operations.ts";
import { SESSION_OPERATIONS } from "./session-operations.ts";
import { STATUS_OPERATIONS } from "./status-operations.ts";

const OPENAPI_VERSION = "3.1.1";

export const OPERATIONS: Operations = {
  ...PUBLIC_OPERATIONS,
  ...SESSION_OPERATIONS,
  ...ADMIN_OPERATIONS,
  ...HOOK_OPERATIONS,
  ...STATUS_OPERATIONS,
  ...SERVICE_OPERATIONS,
};

export type Json = Readonly<Record<string, unknown>>;
export type OpenApiDocument = Json & { readonly paths: Readonly<Record<string, Json>> };

/** The dashboard, the status page and the reference page, with their files, are not part of the API. */
export function isPage(path: string): boolean {
  if (path === "/status/:slug") return true;
  return path === "/" || path.startsWith("/assets/") || path === "/docs" || path.startsWith("/docs/");
}

/** The façade speaks the game API's language, which its own documents describe; docs/facade.md says what differs. */
export function isFacade(path: string): boolean {
  return path === "/v2/server" || path.startsWith("/v2/server/") || path.startsWith("/erlc/");
}

/** Routes without an operation are left out; a test fails on them. */
export function buildDocument(
  routes: readonly Route[],
  version: string,
  audience: Audience = "everybody",
): OpenApiDocument {
  const builder = new DocumentBuilder(audience);
  for (const { path, method } of listMethods(routes)) {
    const operation = OPERATIONS[`${method} ${path}`];
    const offered = audience === "callers" && operation ? findForCallers(operation) : operation;
    if (offered) builder.add(method, path, offered);
  }
  // Version 1 is switched off, so callers cannot use it.
  const legacy = audience === "callers" ? [] : Object.entries(LEGACY_OPERATIONS);
  for (const [name, operation] of legacy) {
    const [method = "", path = ""] = name.split(" ");
    builder.add(method, path, operation);
  }
  return builder.build(version);
}

/**
 * The operation without the ways to sign in that only operators have; undefined when no other way is left, and for what only
 * our own page can use.
 */
function findForCallers(operation: Operation): Operation | undefined {
  if (operation.tag === "Signing in") return undefined;
  const security = operation.security.filter((name) => name === "apiKey" || name === "optional");
  return security.length === 0 && operation.security.length > 0 ? undefined : { ...operation, security };
}

class DocumentBuilder {
  readonly #audience: Audience;
  readonly #tags = new Set<TagName>();
  readonly #security = new Set<string>();
  readonly #errors = new Set<ErrorName>();
  readonly #schemas = new Schemas();
  readonly #responses = new Map<string, Json>();
  readonly #headers = new Map<HeaderName, Json>();
  readonly #paths: Record<string, Record<string, Json>> = {};

  constructor(audience: Audience) {
    this.#audience = audience;
  }

  add(method: string, path: string, operation: Operation): void {
    this.#tags.add(operation.tag);
    for (const name of operation.security) this.#security.add(name);
    for (const name of operation.errors) this.#errors.add(name);
    const template = toTemplate(path);
    const item = this.#paths[template] ?? {};
    this.#paths[template] = item;
    item[method.toLowerCase()] = this.#describeOperation(path, operation);
  }

  build(version: string): OpenApiDocument {
    return {
      openapi: OPENAPI_VERSION,
      ...describeService(version, this.#audience, this.#errors),
      servers: [{ url: "/", description: "This server" }],
      tags: TAGS.filter(({ name }) => this.#tags.has(name)),
      "x-tagGroups": listTagGroups(this.#tags),
      paths: this.#paths,
      components: {
        securitySchemes: Object.fromEntries(
          Object.entries(SECURITY_SCHEMES).filter(([name]) => this.#security.has(name)),
        ),
        schemas: this.#schemas.named,
        responses: Object.fromEntries(this.#responses),
        headers: Object.fromEntries(this.#headers),
      },
    };
  }

  #describeOperation(path: string, operation: Operation): Json {
    const { body, description, parameters = [], security } = operation;
    const ids = path.includes(":id") ? [idParameterOf(path)] : [];
    const all = [...ids, ...(path.includes(":device") ? [DEVICE_ID] : []), ...parameters];
    return {
      operationId: operation.id,
      tags: [operation.tag],
      summary: operation.summary,
      ...(description !== undefined && { description }),
      ...(operation.isDeprecated && { deprecated: true }),
      security: security.map((name) => (name === "optional" ? {} : { [name]: [] })),
      ...(all.length > 0 && { parameters: all.map((one) => this.#describeParameter(one)) }),
      ...(body && {
        requestBody: {
          required: body.isRequired,
          content: describeContent(this.#schemas.refer(body.schema), body.examples, body.mediaType),
        },
      }),
      responses: { ...this.#describeAnswers(operation), ...this.#describeRefusals(operation) },
    };
  }

  #describeAnswers({ answers }: Operation): Json {
    const entries = Object.entries(answers);
    return Object.fromEntries(entries.map(([status, answer]) => [status, this.#describeAnswer(answer)]));
  }

  #describeRefusals({ errors, isCounted = false }: Operation): Json {
    const groups = [...groupErrors(errors)];
    return Object.fromEntries(
      groups.map(([status, names]) => {
        return [status, this.#referResponse(describeErrors(status, names, isCounted, this.#schemas))];
      }),
    );
  }

  #describeParameter({ name, in: place, description, schema, example }: Parameter): Json {
    return {
      name,
      in: place,
      required: place === "path",
      description,
      schema: this.#schemas.refer(schema),
      ...(example !== undefined && { example }),
    };
  }

  #describeAnswer({ description, headers = [], schema, mediaType, examples }: Answer): Json {
    const content = schema && describeContent(this.#schemas.refer(schema), examples ?? {}, mediaType);
    return { description, ...this.#describeHeaders(headers), ...(content && { content }) };
  }

  /** A reference to the response, which becomes part of the document. */
  #referResponse({ name, description, headers, schema, examples }: ErrorResponse): Json {
    if (!this.#responses.has(name)) {
      const content = describeContent(schema, examples);
      this.#responses.set(name, { description, ...this.#describeHeaders(headers), content });
    }
    return { $ref: `#/components/responses/${name}` };
  }

  #describeHeaders(names: readonly HeaderName[]): Json {
    if (names.length === 0) return {};
    return { headers: Object.fromEntries(names.map((name) => this.#referHeader(name))) };
  }

  /** The header's name and a reference to its description, which becomes part of the document. */
  #referHeader(name: HeaderName): readonly [string, Json] {
    const { header, description, schema, example, isRequired } = headerOf(name);
    this.#headers.set(name, {
      description,
      required: isRequired,
      schema: this.#schemas.refer(schema),
      example,
    });
    return [header, { $ref: `#/components/headers/${name}` }];
  }
}

/** The groups with the tags that are in use. A group without any is left out. */
function listTagGroups(used: ReadonlySet<TagName>): readonly Json[] {
  const groups = TAG_GROUPS.map(({ name, tags }) => ({ name, tags: tags.filter((tag) => used.has(tag)) }));
  return groups.filter(({ tags }) => tags.length > 0);
}

/** Every method of every route, without the pages and the façade. */
export function listMethods(routes: readonly Route[]): { path: string; method: Method }[] {
  return routes
    .filter(({ path }) => !isPage(path) && !isFacade(path))
    .flatMap((route) => {
      return METHODS.filter((method) => method in route).map((method) => ({ path: route.path, method }));
    });
}

/** `/admin/keys/:id` as OpenAPI writes it: `/admin/keys/{key_id}`. */
export function toTemplate(path: string): string {
  return path
    .replace(":id", `{${idParameterOf(path).name}}`)
    .replace(":device", "{device_id}")
    .replace(":slug", "{slug}")
    .replace(":community", "{community}");
}

function describeContent(
  schema: unknown,
  examples: Examples,
  mediaType: string | readonly string[] = "application/json",
): Json {
  return Object.fromEntries([mediaType].flat().map((type) => [type, { schema, examples }]));
}
