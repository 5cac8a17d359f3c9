// A fuzzed request, as it is sent and told of.
import type { FuzzedOperation } from "./operations.ts";
import type { Key, Owned } from "./world.ts";

export type FuzzedRequest = {
  /** The operation that was meant; undefined for a path that is made up. */
  readonly operation: FuzzedOperation | undefined;
  readonly method: string;
  /** Path and query, as sent. */
  readonly target: string;
  readonly headers: readonly string[];
  readonly body: Uint8Array | undefined;
  /** Whether the path or the method was changed, so that another operation may answer. */
  readonly isAstray: boolean;
  /** The key it is sent with, for what the answer gives. */
  readonly key: Key | undefined;
  /** What it is about, if that belongs to one of the servers that stay. */
  readonly owned?: Owned | undefined;
};

export function isSocket({ id }: FuzzedOperation): boolean {
  return id.startsWith("openEventSocket");
}

export function toBytes({ method, target, headers, body }: FuzzedRequest): Uint8Array {
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n`, "latin1");
  return body ? Buffer.concat([head, body]) : head;
}

/** The beginning of it, for people. */
export function describeRequest({ method, target, body }: FuzzedRequest): string {
  const content = body ? ` ${Buffer.from(body).toString("utf8").slice(0, 200)}` : "";
  return `${method} ${target.slice(0, 200)}${content}`;
}
