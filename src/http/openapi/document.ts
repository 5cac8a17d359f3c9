// Builds the OpenAPI document from the routes, their operations and the schemas. Version 1 is switched off and has no routes:
// its operations stand here.
import { ERRORS } from "../../core/errors.ts";
import { NewCommand } from "../../core/wire/command.ts";
import { type ErrorName, schemaOfError } from "../../core/wire/error.ts";
import { receiveGameWebhook } from "../events/game-hooks.ts";
import type { Answer, Examples, Operation, Parameter, TagName } from "../operation.ts";
import { isOperatorPath, METHODS, type Method, type Route } from "../router.ts";
import { Schemas } from "./components.ts";
import { ERROR_GUIDE } from "./error-guide.ts";
import { describeErrors, type ErrorResponse, examplesOfError, groupErrors } from "./error-responses.ts";
import { type HeaderName, headerOf, LIMIT_HEADER_NAMES } from "./headers.ts";
import { type Audience, describeService, SECURITY_SCHEMES, TAG_GROUPS, TAGS } from "./introduction.ts";
import { listPathParameters, toTemplate } from "./path-parameters.ts";

const OPENAPI_VERSION = "3.1.1";

export type Json = Readonly<Record<string, unknown>>;
export type OpenApiDocument = Json & { readonly paths: Readonly<Record<string, Json>> };

/** Pages have no operation, and are left out. */
export function buildDocument(
  routes: readonly Route[],
  version: string,
  audience: Audience = "everybody",
): OpenApiDocument {
  const builder = new DocumentBuilder(audience);
  for (const { path, method, operation } of listOperations(routes)) {
    const isFacade = operation.security.includes("facadeKey");
    if (isFacade !== (audience === "facade")) continue;
    const offered = audience === "callers" ? findForCallers(path, operation) : operation;
    if (offered) builder.add(method, path, offered);
  }
  // Version 1 is switched off, so callers cannot use it.
  const legacy = audience === "everybody" ? Object.entries(LEGACY_OPERATIONS) : [];
  for (const [name, operation] of legacy) {
    const [method = "", path = ""] = name.split(" ");
    builder.add(method, path, operation);
  }
  return builder.build(version);
}

/**
 * The operation without the ways to sign in that only operators have; undefined when no other way is left, for what only our own
 * page or the game itself can use, and for the admin API, of which few keys may use a part.
 */
function findForCallers(path: string, operation: Operation): Operation | undefined {
  if (operation.tag === "Signing in" || operation.id === receiveGameWebhook.id || isOperatorPath(path))
    return undefined;
  const security = operation.security.filter((name) => name === "apiKey" || name === "optional");
  return security.length === 0 && operation.security.length > 0 ? undefined : { ...operation, security };
}

class DocumentBuilder {
  readonly #tags = new Set<TagName>();
  readonly #security = new Set<string>();
  readonly #errors = new Set<ErrorName>();
  readonly #schemas = new Schemas();
  readonly #responses = new Map<string, Json>();
  readonly #headers = new Map<HeaderName, Json>();
  readonly #paths: Record<string, Record<string, Json>> = {};

  constructor(private readonly audience: Audience) {}

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
      ...describeService(version, this.audience, this.#errors),
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
    const { body, description, query = {}, parameters = [], security } = operation;
    const fields = Object.entries(query).map(([name, field]): Parameter => ({ ...field, name, in: "query" }));
    const all = [...listPathParameters(path), ...fields, ...parameters];
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

  #describeAnswers({ answers, isCounted = false }: Operation): Json {
    const entries = Object.entries(answers).map(([status, answer]) => {
      // A WebSocket whose token comes in a frame is not counted yet.
      const isSometimes = status === "101" || isCounted === "ofKeys";
      const counted = LIMIT_HEADER_NAMES.map((name) => (isSometimes ? (`${name}Sometimes` as const) : name));
      return [status, this.#describeAnswer(answer, isCounted ? counted : [])];
    });
    return Object.fromEntries(entries);
  }

  #describeRefusals({ errors, isCounted = false }: Operation): Json {
    const groups = [...groupErrors([...new Set(errors)])];
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

  #describeAnswer(answer: Answer, limitHeaders: readonly HeaderName[]): Json {
    const { error, headers = ["CacheControl"], mediaType } = answer;
    const schema = error ? schemaOfError(error) : answer.schema;
    const examples = error ? examplesOfError(error) : (answer.examples ?? {});
    const content = schema && describeContent(this.#schemas.refer(schema), examples, mediaType);
    const cause = error ? `**${ERRORS[error].code}**: ${ERROR_GUIDE[error].when} ` : "";
    const described = this.#describeHeaders([...limitHeaders, ...headers]);
    return { description: cause + answer.description, ...described, ...(content && { content }) };
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
    this.#headers.set(name, { description, required: isRequired, schema: this.#schemas.refer(schema), example });
    return [header, { $ref: `#/components/headers/${name}` }];
  }
}

/** The groups with the tags that are in use. A group without any is left out. */
function listTagGroups(used: ReadonlySet<TagName>): readonly Json[] {
  const groups = TAG_GROUPS.map(({ name, tags }) => ({ name, tags: tags.filter((tag) => used.has(tag)) }));
  return groups.filter(({ tags }) => tags.length > 0);
}

/** Every operation of every route. */
export function listOperations(
  routes: readonly Route[],
): { readonly path: string; readonly method: Method; readonly operation: Operation }[] {
  return routes.flatMap((route) =>
    METHODS.flatMap((method) => {
      const operation = route[method]?.operation;
      return operation ? [{ path: route.path, method, operation }] : [];
    }),
  );
}

function describeContent(
  schema: unknown,
  examples: Examples,
  mediaType: string | readonly string[] = "application/json",
): Json {
  return Object.fromEntries([mediaType].flat().map((type) => [type, { schema, examples }]));
}

const READS: readonly (readonly [path: string, id: string, purpose: string])[] = [
  ["/v1/game/server", "readServerV1", "General server information"],
  ["/v1/game/server/joinlogs", "readJoinLogsV1", "Join and leave logs"],
  ["/v1/game/server/vehicles", "readVehiclesV1", "Vehicle list"],
  ["/v1/game/server/modcalls", "readModCallsV1", "Moderator call logs"],
  ["/v1/game/server/staff", "readStaffV1", "Staff list"],
  ["/v1/game/server/queue", "readQueueV1", "Queue information"],
  ["/v1/:community/game/server", "readServerOfCommunityV1", "General server information, with a community"],
  ["/v1/:community/game/server/players", "readPlayersOfCommunityV1", "Player list, with a community"],
  ["/v1/:community/game/server/queue", "readQueueOfCommunityV1", "Queue information, with a community"],
];

function describeRetired(id: string, summary: string, rest: Partial<Operation> = {}): Operation {
  return {
    id,
    tag: "Version 1",
    summary,
    description: "Switched off: every call is answered 500 with code 5018, with or without a key. Use version 2.",
    isDeprecated: true,
    security: ["apiKey", "optional"],
    answers: {},
    errors: ["obsolete"],
    ...rest,
  };
}

const LEGACY_OPERATIONS: Readonly<Record<string, Operation>> = {
  ...Object.fromEntries(READS.map(([path, id, purpose]) => [`GET ${path}`, describeRetired(id, purpose)])),
  "POST /v1/game/server/command": describeRetired("submitCommandV1", "Send a command", {
    body: {
      schema: NewCommand,
      isRequired: false,
      examples: { hint: { summary: "A hint for everybody", value: { command: ":h Hello" } } },
    },
  }),
};
