// Goes on with a value that may still be under way. A value that is there already costs no trip through the queue of
// promises, which is what keeps a cached read of the embedded store synchronous from end to end.
import type { MaybePromise } from "../core/ports.ts";

export function chain<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
