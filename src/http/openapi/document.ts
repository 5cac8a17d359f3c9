// The OpenAPI document, put together from the route table, the operations and the schemas. Built when first asked for.
import type { Method, Route } from "../router.ts";
import { METHODS } from "../router.ts";
import { ADMIN_OPERATIONS } from "./admin-operations.ts";
import { collectSchemas, type Schemas } from "./components.ts";
import { describeErrors, type ErrorResponse, groupErrors } from "./error-responses.ts";
import { type HeaderName, headerOf } from "./headers.ts";
import { describeService, SECURITY_SCHEMES, TAG_GROUPS, TAGS } from "./introduction.ts";
import { LEGACY_OPERATIONS } from "./legacy-operations.ts";
import type { Answer, Examples, Operation, Operations, Parameter } from "./operation.ts";
import { idParameterOf } from "./parameters.ts";
import { PUBLIC_OPERATIONS } from "./public-operations.ts";
import { SERVICE_OPERATIONS } from "./service-operations.ts";

const OPENAPI_VERSION = "3.1.1";

export const OPERATIONS: Operations = { ...PUBLIC_OPERATIONS, ...ADMIN_OPERATIONS, ...SERVICE_OPERATIONS };

export type Json = Readonly<Record<string, unknown>>;
export type OpenApiDocument = Json & { readonly paths: Readonly<Record<string, Json>> };

/** Pages for people and their files: no part of the API. */
export function isPage(path: string): boolean {
  return path === "/" || path.startsWith("/assets/") || path === "/docs" || path.startsWith("/docs/");
}

/** A route that nobody has described is left out; a test finds it. */
export function buildDocument(routes: readonly Route[], version: string): OpenApiDocument {
  const schemas = collectSchemas();
  const responses = new Map<string, Json>();
  const headers = new Map<HeaderName, Json>();
  const paths: Record<string, Record<string, Json>> = {};

  const add = (method: string, path: string, operation: Operation) => {
    const template = toTemplate(path);
    const item = paths[template] ?? {};
    paths[template] = item;
    item[method.toLowerCase()] = describe(path, operation);
  };
  for (const { path, method } of listMethods(routes)) {
    const operation = OPERATIONS[`${method} ${path}`];
    if (operation) add(method, path, operation);
  }
  for (const [name, operation] of Object.entries(LEGACY_OPERATIONS)) {
    const [method = "", path = ""] = name.split(" ");
    add(method, path, operation);
  }

  return {
    openapi: OPENAPI_VERSION,
    ...describeService(version),
    servers: [{ url: "/", description: "This server" }],
    tags: TAGS,
    "x-tagGroups": TAG_GROUPS,
    paths,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      schemas: schemas.named,
      responses: Object.fromEntries(responses),
      headers: Object.fromEntries(headers),
    },
  };

  function describe(path: string, operation: Operation): Json {
    const { body, description, parameters = [], security } = operation;
    const all = path.includes(":id") ? [idParameterOf(path), ...parameters] : parameters;
    return {
      operationId: operation.id,
      tags: [operation.tag],
      summary: operation.summary,
      ...(description !== undefined && { description }),
      ...(operation.isDeprecated && { deprecated: true }),
      security: security.map((name) => (name === "optional" ? {} : { [name]: [] })),
      ...(all.length > 0 && { parameters: all.map((one) => describeParameter(one, schemas)) }),
      ...(body && {
        requestBody: {
          required: body.isRequired,
          content: { "application/json": { schema: schemas.refer(body.schema), examples: body.examples } },
        },
      }),
      responses: {
        ...Object.fromEntries(
          Object.entries(operation.answers).map(([status, answer]) => [status, describeAnswer(answer)]),
        ),
        ...Object.fromEntries(
          [...groupErrors(operation.errors)].map(([status, errors]) => {
            return [
              status,
              keepResponse(describeErrors(status, errors, operation.isCounted ?? false, schemas)),
            ];
          }),
        ),
      },
    };
  }

  function describeAnswer({ description, headers: names = [], schema, mediaType, examples }: Answer): Json {
    const content = schema && describeContent(schemas.refer(schema), examples ?? {}, mediaType);
    return { description, ...describeHeaders(names), ...(content && { content }) };
  }

  function keepResponse({ name, description, headers: names, schema, examples }: ErrorResponse): Json {
    if (!responses.has(name)) {
      const content = describeContent(schema, examples);
      responses.set(name, { description, ...describeHeaders(names), content });
    }
    return { $ref: `#/components/responses/${name}` };
  }

  function describeHeaders(names: readonly HeaderName[]): Json {
    if (names.length === 0) return {};
    return {
      headers: Object.fromEntries(
        names.map((name) => {
          const { header, description, schema, example, isRequired } = headerOf(name);
          headers.set(name, { description, required: isRequired, schema: schemas.refer(schema), example });
          return [header, { $ref: `#/components/headers/${name}` }];
        }),
      ),
    };
  }
}

/** Every method of every route, without the pages. */
export function listMethods(routes: readonly Route[]): { path: string; method: Method }[] {
  return routes
    .filter(({ path }) => !isPage(path))
    .flatMap((route) => {
      return METHODS.filter((method) => method in route).map((method) => ({ path: route.path, method }));
    });
}

/** `/admin/keys/:id` as OpenAPI writes it, with the id's full name. */
export function toTemplate(path: string): string {
  return path.replace(":id", `{${idParameterOf(path).name}}`).replace(":community", "{community}");
}

function describeContent(schema: unknown, examples: Examples, mediaType = "application/json"): Json {
  return { [mediaType]: { schema, examples } };
}

function describeParameter(parameter: Parameter, { refer }: Schemas): Json {
  const { name, in: place, description, schema, example } = parameter;
  return {
    name,
    in: place,
    required: place === "path",
    description,
    schema: refer(schema),
    ...(example !== undefined && { example }),
  };
}
