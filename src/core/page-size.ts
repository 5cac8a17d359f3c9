// How many items a page of a list has.

export const PAGE_SIZE_DEFAULT = 50;
export const PAGE_SIZE_MAX = 200;
