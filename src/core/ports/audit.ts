// The audit log: who changed what.
import type { Page, PageRequest } from "./pages.ts";

/** Who made a change. `fingerprint` identifies the master key without revealing it. */
export type Actor = { readonly fingerprint: string; readonly address: string };

/** An audit entry without id and target. `details` never hold a secret. */
export type AuditNote = {
  readonly at: number;
  readonly action: string;
  readonly actor: Actor;
  readonly details: Readonly<Record<string, unknown>>;
};

export type AuditEntry = AuditNote & { readonly id: string; readonly target: string };

/** Entries are written together with the change they describe, by the port that makes the change. */
export interface AuditStore {
  /** Newest first. */
  list(page: PageRequest): Promise<Page<AuditEntry>>;
}
