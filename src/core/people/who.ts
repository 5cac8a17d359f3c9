// Who did something: in the audit log, of a command, of a claim, of a note.

export const WHO_KINDS = ["master", "person", "key", "system"] as const;
export type WhoKind = (typeof WHO_KINDS)[number];

/** `id` is that of the person or key; of the master key its fingerprint. The name stays as it was at that time. */
export type Who = { readonly kind: WhoKind; readonly id: string; readonly name: string };

/** What Gatehouse does by itself. */
export const SYSTEM: Who = { kind: "system", id: "gatehouse", name: "Gatehouse" };
