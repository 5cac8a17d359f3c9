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

export function createWitness(document: Json) {
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
      const found = operations.find(({ operation }) => operation.operationId === id);
      const documented = responsesOf(found?.operation ?? { responses: {} }).find(
        ([status]) => status === response.status,
      )?.[1];
      const text = await response.text();
      if (!documented) return [`status ${response.status} is not documented: ${text}`];
      return [
        ...findHeaderFaults(response.headers, (documented.headers ?? {}) as Json),
        ...findBodyFaults(response.headers.get("content-type"), text, documented.content as Json | undefined),
      ];
    },
  };

  function findHeaderFaults(headers: Headers, documented: Json): string[] {
    const faults: string[] = [];
    if (headers.get(NO_SNIFFING) !== "nosniff") faults.push(`${NO_SNIFFING} is missing`);
    for (const [name, reference] of Object.entries(documented)) {
      const { required, schema } = follow(reference) as { required: boolean; schema: Json };
      const text = headers.get(name);
      if (text === null) {
        if (required) faults.push(`${name} is missing`);
        continue;
      }
      const isNumber = schema.type === "integer" || schema.type === "number";
      const value = isNumber ? Number(text) : text;
      if (!Schema.Check(close(schema) as Schema.XSchema, value)) faults.push(`${name}: ${text}`);
    }
    const known = new Set(Object.keys(documented).map((name) => name.toLowerCase()));
    for (const name of headers.keys()) {
      if (!known.has(name) && !PLUMBING.has(name)) faults.push(`${name} is not documented`);
    }
    return faults;
  }

  function findBodyFaults(contentType: string | null, text: string, content: Json | undefined): string[] {
    if (!content) return text === "" ? [] : [`a body that is not documented: ${text}`];
    const type = (contentType ?? "").split(";", 1)[0] ?? "";
    const media = content[type] as { schema: unknown } | undefined;
    if (!media) return [`${type} is not documented`];
    const value = type === "application/json" ? JSON.parse(text) : text;
    const schema = close(media.schema) as Schema.XSchema;
    if (Schema.Check(schema, value)) return [];
    return [`body: ${text.slice(0, 500)} ${JSON.stringify(Schema.Errors(schema, value)).slice(0, 500)}`];
  }
}
