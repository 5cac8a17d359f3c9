// Writes the query of an address.

/** What is undefined is left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** Begins with a question mark, or is empty. */
export function writeQuery(query: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.set(name, String(value));
  }
  const text = search.toString();
  return text === "" ? "" : `?${text}`;
}
