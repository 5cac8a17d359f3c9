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
export declare function pages<P extends Page>(read: PageReader<P>): AsyncGenerator<P, undefined>;
export {};
