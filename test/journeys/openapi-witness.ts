// Compares answers of the server with the OpenAPI document: status, headers and body must be documented, and nothing may be
// undocumented.
import Schema from "typebox/schema";

type Json = Record<string, unknown>;

export type DocumentedError = { readonly status: number; readonly code: number };

export type DocumentedOperation = {
  readonly id: string;
  readonly method: string;
  /** With its parameters in braces. */
  readonly template: string;
  readonly statuses: readonly number[];
  readonly errors: readonly DocumentedError[];
  readonly tag: string;
};

/** Headers that every HTTP answer has. */
const NO_SNIFFING = "x-content-type-options";
const PLUMBING = new Set([
  "content-type",
  "content-length",
  "content-encoding",
  "date",
  "connection",
  "transfer-encoding",
  // Of the handshake of a WebSocket.
  "sec-websocket-accept",
  // On every answer, so it is not described with each.
  NO_SNIFFING,
]);

export type ReadAnswer = {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
};

type Validator = ReturnType<typeof Schema.Compile>;
type DocumentedAnswer = {
  /** By the name in lower case. */
  readonly headers: ReadonlyMap<
    string,
    {
      readonly name: string;
      readonly required: boolean;
      readonly isNumber: boolean;
      readonly validator: Validator;
    }
  >;
  /** By media type; undefined for an answer without a body. */
  readonly content: ReadonlyMap<string, Validator> | undefined;
};

export function createWitness(document: Json) {
  const described = new Map<string, DocumentedAnswer | undefined>();

  function follow(value: unknown): unknown {
    if (typeof value !== "object" || value === null || !("$ref" in value)) return value;
    const path = String(value.$ref).replace("#/", "").split("/");
    const found = path.reduce<unknown>((place, key) => (place as Json)[key], document);
    if (found === undefined) throw new Error(`${value.$ref} leads nowhere`);
    return found;
  }

  /** The schema without references, and without additional properties: an undocumented field is a fault. */
  function close(schema: unknown): unknown {
    const value = follow(schema);
    if (Array.isArray(value)) return value.map(close);
    if (typeof value !== "object" || value === null) return value;
    const closed = Object.fromEntries(Object.entries(value).map(([key, part]) => [key, close(part)]));
    return "properties" in closed ? { additionalProperties: false, ...closed } : closed;
  }

  function responsesOf(operation: Json): [status: number, response: Json][] {
    return Object.entries(operation.responses as Json).map(([status, response]) => {
      return [Number(status), follow(response) as Json];
    });
  }

  function listErrors(status: number, response: Json): DocumentedError[] {
    const media = (response.content as Json | undefined)?.["application/json"] as Json | undefined;
    const schema = media && (follow(media.schema) as Json);
    const choices = (schema?.oneOf as unknown[] | undefined) ?? [schema];
    return choices.flatMap((choice) => {
      const { code } = ((follow(choice) as Json | undefined)?.properties ?? {}) as {
        code?: { const: number };
      };
      return status >= 400 && code ? [{ status, code: code.const }] : [];
    });
  }

  const operations = Object.entries(document.paths as Json).flatMap(([template, item]) => {
    return Object.entries(item as Json).map(([method, operation]) => ({
      method: method.toUpperCase(),
      template,
      operation: operation as Json,
    }));
  });

  return {
    operations: operations.map(({ method, template, operation }): DocumentedOperation => {
      const responses = responsesOf(operation);
      return {
        id: String(operation.operationId),
        method,
        template,
        statuses: responses.map(([status]) => status),
        errors: responses.flatMap(([status, response]) => listErrors(status, response)),
        tag: String((operation.tags as string[])[0]),
      };
    }),

    /** Every difference between the answer and the document. */
    async findFaults(id: string, response: Response): Promise<string[]> {
      const headers = new Map(response.headers);
      return judge(id, { status: response.status, headers, body: await response.text() });
    },

    judge,
  };

  /** As findFaults, for an answer that was read already. `isHead`: it has no body, whatever is documented. */
  function judge(id: string, { status, headers, body }: ReadAnswer, isHead = false): string[] {
    const documented = describe(id, status);
    if (!documented) return [`status ${status} is not documented: ${body}`];
    return [
      ...findHeaderFaults(headers, documented.headers),
      ...(isHead ? [] : findBodyFaults(headers.get("content-type"), body, documented.content)),
    ];
  }

  /** What is documented for this status, with its schemas compiled at the first use. */
  function describe(id: string, status: number): DocumentedAnswer | undefined {
    const name = `${id} ${status}`;
    if (described.has(name)) return described.get(name);
    const found = operations.find(({ operation }) => operation.operationId === id);
    const response = responsesOf(found?.operation ?? { responses: {} }).find(([one]) => one === status)?.[1];
    const answer = response && compileAnswer(response);
    described.set(name, answer);
    return answer;
  }

  function compileAnswer(response: Json): DocumentedAnswer {
    const headers = Object.entries((response.headers ?? {}) as Json).map(([name, reference]) => {
      const { required, schema } = follow(reference) as { required: boolean; schema: Json };
      const isNumber = schema.type === "integer" || schema.type === "number";
      return [name.toLowerCase(), { name, required, isNumber, validator: compile(schema) }] as const;
    });
    const content = Object.entries((response.content ?? {}) as Json).map(([type, media]) => {
      return [type, compile((media as Json).schema)] as const;
    });
    return {
      headers: new Map(headers),
      content: response.content === undefined ? undefined : new Map(content),
    };
  }

  function compile(schema: unknown): Validator {
    return Schema.Compile(close(schema) as Schema.XSchema);
  }
}

function findHeaderFaults(headers: ReadonlyMap<string, string>, documented: DocumentedAnswer["headers"]): string[] {
  const faults: string[] = [];
  if (headers.get(NO_SNIFFING) !== "nosniff") faults.push(`${NO_SNIFFING} is missing`);
  for (const [key, { name, required, isNumber, validator }] of documented) {
    const text = headers.get(key);
    if (text === undefined) {
      if (required) faults.push(`${name} is missing`);
    } else if (!validator.Check(isNumber ? Number(text) : text)) faults.push(`${name}: ${text}`);
  }
  for (const name of headers.keys()) {
    if (!documented.has(name) && !PLUMBING.has(name)) faults.push(`${name} is not documented`);
  }
  return faults;
}

function findBodyFaults(contentType: string | undefined, text: string, content: DocumentedAnswer["content"]): string[] {
  if (!content) return text === "" ? [] : [`a body that is not documented: ${text}`];
  const type = (contentType ?? "").split(";", 1)[0] ?? "";
  const validator = content.get(type);
  if (!validator) return [`${type} is not documented`];
  const value = type === "application/json" ? parseJson(text) : text;
  if (validator.Check(value)) return [];
  return [`body: ${text.slice(0, 500)} ${JSON.stringify(validator.Errors(value)).slice(0, 500)}`];
}

/** Undefined, which no schema allows, for a text that is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
