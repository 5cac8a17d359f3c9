// The audit log: who changed what.
import type { Page, PageRequest } from "./pages.ts";

/** Who made a change. `fingerprint` identifies the master key without revealing it. */
export type Actor = { readonly fingerprint: string; readonly address: string };

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
};

const AUDIT_ID = /^aud_([0-9a-z]{1,11})$/;

/** The number in the id of an entry; undefined for a text that is not an id. */
export function parseAuditId(id: string): number | undefined {
  const [, digits] = AUDIT_ID.exec(id) ?? [];
  const number = digits === undefined ? Number.NaN : Number.parseInt(digits, 36);
  return Number.isSafeInteger(number) ? number : undefined;
}

export type AuditEntry = AuditNote & { readonly id: string; readonly target: string };

/** Entries are written together with the change they describe, by the port that makes the change. */
export interface AuditStore {
  /** Newest first. */
  list(page: PageRequest): Promise<Page<AuditEntry>>;
  /** Undefined when there is none, or when it was deleted because of its age. */
  find(id: string): Promise<AuditEntry | undefined>;
}
