// A value that may come later. The embedded store answers at once, a remote one asynchronously; requests allow for both.

export type MaybePromise<T> = T | Promise<T>;
