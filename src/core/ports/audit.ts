// The audit log: who changed what.
import { type ApiKey, whoOf } from "../keys/api-key.ts";
import type { Person } from "../people/person.ts";
import { SYSTEM, type Who } from "../people/who.ts";
import type { Page, PageRequest } from "./pages.ts";

/** Who made a change, and from which address; empty for what Gatehouse did by itself. */
export type Actor = Who & { readonly address: string };

export const GATEHOUSE: Actor = { ...SYSTEM, address: "" };

/** `fingerprint` tells master keys apart and cannot be turned back into one. */
export function toMasterActor(fingerprint: string, address: string): Actor {
  return { kind: "master", id: fingerprint, name: "master key", address };
}

export function toPersonActor({ personId, name }: Pick<Person, "personId" | "name">, address: string): Actor {
  return { kind: "person", id: personId, name, address };
}

export function toKeyActor(key: ApiKey, address: string): Actor {
  return { ...whoOf(key), address };
}

/** The changed fields, as they were and as they are. Never a secret. */
export type AuditDetails = {
  readonly before?: Readonly<Record<string, unknown>>;
  readonly after?: Readonly<Record<string, unknown>>;
};

/** An audit entry without id and target. */
export type AuditNote = {
  readonly at: number;
  readonly action: string;
  readonly actor: Actor;
  readonly details: AuditDetails;
  /** The server that it is about, if it is about one: who manages its people sees the entry. */
  readonly serverId?: string;
};

const AUDIT_ID = /^aud_([0-9a-z]{1,11})$/;

/** The number in the id of an entry; undefined for a text that is not an id. */
export function parseAuditId(id: string): number | undefined {
  const [, digits] = AUDIT_ID.exec(id) ?? [];
  const number = digits === undefined ? Number.NaN : Number.parseInt(digits, 36);
  return Number.isSafeInteger(number) ? number : undefined;
}

export type AuditEntry = AuditNote & { readonly id: string; readonly target: string };

export type AuditFilter = {
  /** The id of who did it, `master`, or a part of a name without case. */
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly target?: string | undefined;
  /** From this time on. */
  readonly from?: number | undefined;
  /** Before this time. */
  readonly to?: number | undefined;
  /** A part of the action, the target, the actor's name or the details, without case. */
  readonly query?: string | undefined;
  /** Only entries about these servers. */
  readonly serverIds?: readonly string[] | undefined;
};

/** Whether `actor` and `query` of the filter fit. The store compares the rest. */
export function isMatchingEntry({ actor, query }: AuditFilter, entry: AuditEntry): boolean {
  const { kind, id, name } = entry.actor;
  const hasPart = (text: string, part: string) => text.toLowerCase().includes(part.toLowerCase());
  if (actor === "master" ? kind !== "master" : actor !== undefined && actor !== id && !hasPart(name, actor))
    return false;
  if (query === undefined) return true;
  if ([entry.action, entry.target, name].some((text) => hasPart(text, query))) return true;
  // As it stands within JSON, so that quotation marks are found too.
  const written = JSON.stringify(query).slice(1, -1);
  const { before, after } = entry.details;
  return [before, after].some((fields) => fields && hasPart(JSON.stringify(fields), written));
}

/** Entries are written together with the change they describe, by the port that makes the change. */
export interface AuditStore {
  /** For a change that is not in the store: of the archive, or of the game API's pause. */
  add(target: string, note: AuditNote): Promise<void>;
  /**
   * Newest first. The work for a page is bounded: with a filter a page may have fewer items than asked for, or none, although
   * there is a next page.
   */
  list(page: PageRequest & AuditFilter): Promise<Page<AuditEntry>>;
  /** Undefined when there is none, or when it was deleted because of its age. */
  find(id: string): Promise<AuditEntry | undefined>;
}
