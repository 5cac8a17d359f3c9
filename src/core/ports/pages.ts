// Pagination of lists. Safe in browsers.

/** `next` is the cursor of the next page, null on the last one. */
export type Page<T> = { readonly items: readonly T[]; readonly next: string | null };

export type PageRequest = { readonly limit: number; readonly cursor?: string | undefined };

export const PAGE_SIZE_DEFAULT = 50;
export const PAGE_SIZE_MAX = 200;
