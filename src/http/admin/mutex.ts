// Runs asynchronous changes one at a time, so that each is checked against the result of the one before.

export class Mutex {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(change: () => Promise<T>): Promise<T> {
    const result = this.#last.then(change);
    this.#last = result.catch(() => {});
    return result;
  }
}
