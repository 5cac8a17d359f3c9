// Counts what each owner holds, so that one of them cannot take what all share. An owner is an API key or a client address.

export class Slots {
  /** Only owners that hold something. */
  readonly #held = new Map<string, number>();

  /** False when the owner holds `max` already. */
  take(owner: string, max: number): boolean {
    const held = this.#held.get(owner) ?? 0;
    if (held >= max) return false;
    this.#held.set(owner, held + 1);
    return true;
  }

  release(owner: string): void {
    const held = (this.#held.get(owner) ?? 0) - 1;
    if (held > 0) this.#held.set(owner, held);
    else this.#held.delete(owner);
  }
}
