// Records in Redis are signed, so that whoever can write to Redis cannot make a key or widen one, or make up a reading. The
// signature is the last field of the JSON and covers the record and its id. A record is checked when it is loaded, never for
// a request.
import type { Sealer } from "../sealer.ts";
import type { KeyRecord } from "./records.ts";
import type { RedisLink } from "./redis-link.ts";

const READ_AT_ONCE = 500;
const SIGNATURE = /,"mac":"([A-Za-z0-9_-]{43})"\}$/;

/** `unsigned`: made by a version without signatures, or by somebody else. `altered`: the signature does not fit. */
export type SignatureState = "signed" | "unsigned" | "altered";

export function signRecord(sealer: Sealer, id: string, record: object): string {
  const text = JSON.stringify(record);
  return `${text.slice(0, -1)},"mac":"${sealer.sign(text, id)}"}`;
}

export function checkSignature(sealer: Sealer, id: string, text: string): SignatureState {
  const match = SIGNATURE.exec(text);
  if (!match) return isObject(text) ? "unsigned" : "altered";
  const unsigned = `${text.slice(0, match.index)}}`;
  return sealer.isSigned(unsigned, id, match[1] ?? "") ? "signed" : "altered";
}

/** A revoked key needs no signature. */
export function isIgnored(sealer: Sealer, id: string, text: string): boolean {
  return checkSignature(sealer, id, text) !== "signed" && parseRevoked(id, text) === undefined;
}

/** All records of a hash, in parts. */
export async function* scanRecords(
  link: RedisLink,
  name: string,
): AsyncGenerator<[id: string, text: string][]> {
  let cursor = "0";
  do {
    const reply = await link.send(name, "HSCAN", name, cursor, "COUNT", READ_AT_ONCE);
    const [next, flat] = reply as [string, string[]];
    yield Array.from({ length: flat.length / 2 }, (_, i) => [flat[i * 2] ?? "", flat[i * 2 + 1] ?? ""]);
    cursor = next;
  } while (cursor !== "0");
}

/** The record without its signature, which must have been checked. */
export function parseSigned<T>(text: string): T {
  const { mac: _, ...record } = JSON.parse(text) as { mac?: string };
  return record as T;
}

/**
 * A revoked key whose signature does not fit, undefined for any other text. revoke-keys.lua revokes keys and cannot sign.
 * Such a record grants nothing, and is only shown.
 */
export function parseRevoked(id: string, text: string): KeyRecord | undefined {
  try {
    const { devices: _, links: __, ...record } = parseSigned<KeyRecord>(text);
    return isRevokedKey(id, record) ? { ...record, tokens: [] } : undefined;
  } catch {
    return undefined;
  }
}

function isRevokedKey(id: string, record: KeyRecord): boolean {
  const { keyId, serverId, label, sections, isSuspended } = record;
  const lists = [record.versions, record.commands, record.ipAllow];
  return (
    keyId === id &&
    typeof serverId === "string" &&
    typeof label === "string" &&
    typeof isSuspended === "boolean" &&
    [record.seq, sections, record.createdAt, record.revokedAt].every(Number.isSafeInteger) &&
    (record.expiresAt === null || Number.isSafeInteger(record.expiresAt)) &&
    lists.every((list) => Array.isArray(list) && list.every((item) => typeof item === "string"))
  );
}

/** An older version has written objects only. */
function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
