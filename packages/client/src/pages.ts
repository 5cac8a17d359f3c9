// Reads a list page after page.

type Page = {
  readonly next: string | null;
  readonly has_more?: boolean;
  readonly previous?: string;
};

/** Reads the page of a cursor; the first page when it is undefined. */
export type PageReader<P extends Page> = (cursor: string | undefined) => Promise<P>;

/**
 * The pages of a list, each a request, until the last: `pages((cursor) => gatehouse.players.search({ cursor }))`. For
 * events, `pages((cursor) => gatehouse.listEvents({ after: cursor ?? "earliest" }))`.
 */
export async function* pages<P extends Page>(read: PageReader<P>): AsyncGenerator<P, undefined> {
  let cursor: string | undefined;
  for (;;) {
    const page = await read(cursor);
    yield page;
    const next = page.has_more === false ? null : (page.previous ?? page.next);
    // A page that names itself as the next one would be read for ever.
    if (next === null || next === cursor) return undefined;
    cursor = next;
  }
}
