// Whether the game API has refused the global key. All servers share that key, so a refusal stops every call, on every
// instance and after a restart, until an operator sets a server key or starts Gatehouse with another global key or address.
import { StoreUnavailable } from "../../core/errors.ts";
import type { RelayShare } from "../../core/ports/relay-share.ts";
import type { UpstreamFailure } from "../../core/ports/upstream.ts";
import type { UpstreamNotes } from "./upstream-notes.ts";

export type GlobalKeyParts = {
  /** False when Gatehouse has no global key. */
  readonly isUsed: boolean;
  /** Identifies the pair of game API and global key: a refusal applies to this pair only. */
  readonly identity: string;
  readonly share?: Pick<RelayShare, "findGlobalKeyFailure" | "saveGlobalKeyFailure"> | undefined;
  readonly notes?: Pick<UpstreamNotes, "globalKeyFailure" | "saveGlobalKeyFailure"> | undefined;
};

export class GlobalKey {
  readonly isUsed: boolean;
  readonly #identity: string;
  readonly #share: GlobalKeyParts["share"];
  readonly #notes: GlobalKeyParts["notes"];
  #failure: UpstreamFailure | null;
  /** The failure that is not shared with the other instances yet, null to clear theirs; undefined when all is shared. */
  #unsaved: UpstreamFailure | null | undefined;

  constructor({ isUsed, identity, share, notes }: GlobalKeyParts) {
    this.isUsed = isUsed;
    this.#identity = identity;
    this.#share = share;
    this.#notes = notes;
    this.#failure = (isUsed && notes?.globalKeyFailure) || null;
  }

  /** Undefined while the key may be used. */
  get failure(): UpstreamFailure | undefined {
    return this.#failure ?? undefined;
  }

  learnFailure(failure: UpstreamFailure): void {
    this.#remember(failure);
  }

  /** The key may be tried again, by every instance. */
  retry(): void {
    if (this.isUsed) this.#remember(null);
  }

  /** Shares what could not be shared before, then fetches what other instances have shared. */
  async catchUp(): Promise<void> {
    if (!this.isUsed || !this.#share) return;
    try {
      await this.#saveForOthers(this.#share);
      const failure = await this.#share.findGlobalKeyFailure(this.#identity);
      // What this instance has learned meanwhile is newer.
      if (this.#unsaved === undefined) this.#failure = failure;
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }

  #remember(failure: UpstreamFailure | null): void {
    this.#failure = failure;
    this.#notes?.saveGlobalKeyFailure(failure);
    if (!this.#share) return;
    this.#unsaved = failure;
    void this.catchUp();
  }

  async #saveForOthers(share: NonNullable<GlobalKeyParts["share"]>): Promise<void> {
    const unsaved = this.#unsaved;
    if (unsaved === undefined) return;
    await share.saveGlobalKeyFailure(this.#identity, unsaved);
    if (this.#unsaved === unsaved) this.#unsaved = undefined;
  }
}
