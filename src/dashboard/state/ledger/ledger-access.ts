// Every view reads the ledger through this, so that a Gatehouse without an archive is asked only once.
import { ERRORS } from "../../../core/errors.ts";
import type { EventPage } from "../../../core/wire/event.ts";
import type { LedgerReader } from "../../api/caller.ts";
import type { Pace } from "../../api/pace.ts";
import type { Failure, Outcome } from "../../api/request.ts";

export class LedgerAccess implements LedgerReader {
  readonly #reader: LedgerReader;
  readonly #listeners = new Set<() => void>();
  /** The answer that there is no archive. */
  #refusal: Failure | undefined;

  constructor(reader: LedgerReader, pace: Pace) {
    this.#reader = reader;
    // Gatehouse was restarted, perhaps with an archive.
    pace.onRecovery(() => this.#setRefusal(undefined));
  }

  /** Whether Gatehouse has said that it has no archive. */
  get isOff(): boolean {
    return this.#refusal !== undefined;
  }

  async readEvents(...request: Parameters<LedgerReader["readEvents"]>): Promise<Outcome<EventPage>> {
    if (this.#refusal) return { ...this.#refusal, receivedAt: Date.now() };
    const outcome = await this.#reader.readEvents(...request);
    const isOff = !outcome.ok && outcome.error.code === ERRORS.notConfigured.code;
    this.#setRefusal(isOff ? outcome : undefined);
    return outcome;
  }

  /** Calls the listener when `isOff` has changed. Returns a function that removes it. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #setRefusal(refusal: Failure | undefined): void {
    const isChanged = this.isOff !== (refusal !== undefined);
    this.#refusal = refusal;
    if (isChanged) for (const listener of this.#listeners) listener();
  }
}
