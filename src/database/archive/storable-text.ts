// Text that both engines can keep.

/** PostgreSQL refuses texts with a NUL or half a surrogate pair, and what it refuses would be tried again for ever. */
export function toStorable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\ufffd");
}
