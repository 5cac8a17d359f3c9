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

export type AuditEntry = AuditNote & { readonly id: string; readonly target: string };

/** Entries are written together with the change they describe, by the port that makes the change. */
export interface AuditStore {
  /** Newest first. */
  list(page: PageRequest): Promise<Page<AuditEntry>>;
}
