/** What is undefined is left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;
/** Begins with a question mark, or is empty. */
export declare function writeQuery(query: Query): string;
