// A value, or a promise of it. The embedded store returns values, the shared store returns promises.

export type MaybePromise<T> = T | Promise<T>;
