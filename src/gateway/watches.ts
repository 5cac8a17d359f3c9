// What is known of all servers, and of the key they share: which reading is fresh, which failure still holds, and when a
// server is forgotten.
import { afterFailure, CLOSED_BREAKER, isCallDue, isOpen } from "../core/breaker.ts";
import type { GameServer } from "../core/game-server.ts";
import type { UpstreamFailure } from "../core/ports.ts";
import { BAD_KEY_CODES, BREAKER_CODES, GLOBAL_KEY_REFUSED } from "../core/upstream-codes.ts";
import type { Snapshot } from "./snapshot.ts";
import type { UpstreamNotes } from "./upstream-notes.ts";
import { ACTIVE_MS, createWatch, FOREVER, isActive, isKeyRefused, isYounger, type Watch } from "./watch.ts";

/** What is known about a server that nobody asks about is forgotten after this time. */
const FORGET_AFTER_MS = 10 * 60_000;

type WatchSettings = { readonly freshMs: number; readonly hasGlobalKey: boolean };
type KeyNotes = Pick<UpstreamNotes, "refusedKeys" | "saveRefusedKeys">;

export class Watches {
  readonly #settings: WatchSettings;
  readonly #notes: KeyNotes | undefined;
  readonly #watches = new Map<string, Watch>();
  #globalKeyFailure: UpstreamFailure | undefined;
  #forgotAt = 0;

  constructor(settings: WatchSettings, notes: KeyNotes | undefined, now: number) {
    this.#settings = settings;
    this.#notes = notes;
    for (const { serverId, keyRevision, failure } of notes?.refusedKeys ?? []) {
      const watch = createWatch({ serverId, keyRevision }, now);
      watch.remembered = { failure, at: now, forMs: FOREVER };
      this.#watches.set(serverId, watch);
    }
  }

  /** The watch of the server; a new one when there is none, or when the server's key was set anew. */
  of(server: GameServer, now: number): Watch {
    const known = this.#watches.get(server.serverId);
    // Whoever comes with an older key has been on the way since before it was set anew.
    if (known && known.keyRevision >= server.keyRevision) return known;
    // A key that was set again means "try again", also for what a bad global key had stopped.
    if (known) this.#globalKeyFailure = undefined;
    this.#forgetSilent(now);
    const watch = createWatch(server, now);
    this.#watches.set(server.serverId, watch);
    if (known && isKeyRefused(known)) this.#noteRefusedKeys();
    return watch;
  }

  find(serverId: string): Watch | undefined {
    return this.#watches.get(serverId);
  }

  isFresh(watch: Watch, now: number): boolean {
    return watch.hit !== undefined && isYounger(watch.hit.snapshot.fetchedAt, this.#settings.freshMs, now);
  }

  /** The failure to answer without a call. `isAsking` is for those whose own call is the one that is pending. */
  findKnownFailure(watch: Watch, now: number, isAsking = false): UpstreamFailure | undefined {
    if (this.#globalKeyFailure) return this.#globalKeyFailure;
    const { remembered } = watch;
    if (remembered && isYounger(remembered.at, remembered.forMs, now)) return remembered.failure;
    // While open, and while its one probe is under way, the last failure is the answer.
    const isProbing = (watch.pending !== undefined && !isAsking) || watch.isSendingCommand;
    const isWaiting = isOpen(watch.breaker) && (isProbing || !isCallDue(watch.breaker, now));
    return isWaiting ? watch.breakerFailure : undefined;
  }

  /** Why the key of this server, or the global one, is not used again. */
  findRefusedKey(server: GameServer, now: number): UpstreamFailure | undefined {
    const { remembered } = this.of(server, now);
    return this.#globalKeyFailure ?? (remembered?.forMs === FOREVER ? remembered.failure : undefined);
  }

  /** Those that are being asked about, could be called for now, and have waited longer. */
  countAhead(watch: Watch, now: number): number {
    let ahead = 0;
    for (const other of this.#watches.values()) {
      const isOlder = other !== watch && other.lastCallAt < watch.lastCallAt && isActive(other, now);
      if (isOlder && !this.isFresh(other, now) && !this.findKnownFailure(other, now)) ahead++;
    }
    return ahead;
  }

  /** A reading ends every failure of its server. */
  learnReading(watch: Watch, snapshot: Snapshot): void {
    const wasRefused = isKeyRefused(watch);
    watch.breaker = CLOSED_BREAKER;
    watch.lastFailure = undefined;
    watch.remembered = undefined;
    if (wasRefused) this.#noteRefusedKeys();
    watch.loggedCode = undefined;
    watch.hit = { snapshot, isHit: true };
  }

  /** What holds for reads and commands alike: failures in a row open the breaker, a refused key is not used again. */
  learnFailure(watch: Watch, failure: UpstreamFailure, now: number): void {
    const isBreakerFailure = BREAKER_CODES.has(failure.code);
    watch.breaker = isBreakerFailure ? afterFailure(watch.breaker, now) : CLOSED_BREAKER;
    watch.breakerFailure = isBreakerFailure ? failure : undefined;
    const isGlobal = failure.code === GLOBAL_KEY_REFUSED && this.#settings.hasGlobalKey;
    if (isGlobal) this.#globalKeyFailure = failure;
    else if (BAD_KEY_CODES.has(failure.code)) {
      watch.remembered = { failure, at: now, forMs: FOREVER };
      this.#noteRefusedKeys();
    }
  }

  forget(serverId: string): void {
    const watch = this.#watches.get(serverId);
    this.#watches.delete(serverId);
    if (watch && isKeyRefused(watch)) this.#noteRefusedKeys();
  }

  forgetGone(isThere: (serverId: string) => boolean): void {
    for (const serverId of this.#watches.keys()) if (!isThere(serverId)) this.forget(serverId);
  }

  describe(now: number) {
    const watches = [...this.#watches.values()];
    return {
      isGlobalKeyRefused: this.#globalKeyFailure !== undefined,
      activeServers: watches.filter((watch) => isActive(watch, now)).length,
      openBreakers: watches.filter((watch) => isOpen(watch.breaker)).length,
      refusedKeys: watches.filter(isKeyRefused).length,
      oldestSnapshotMs: watches.reduce((oldest, { hit }) => {
        return hit ? Math.max(oldest, now - hit.snapshot.fetchedAt) : oldest;
      }, 0),
    };
  }

  #noteRefusedKeys(): void {
    const refused = [...this.#watches.values()].flatMap(({ serverId, keyRevision, remembered }) => {
      return remembered?.forMs === FOREVER ? [{ serverId, keyRevision, failure: remembered.failure }] : [];
    });
    this.#notes?.saveRefusedKeys(refused);
  }

  /** A refused key is kept in mind: forgetting it would mean asking with it again. */
  #forgetSilent(now: number): void {
    if (Math.abs(now - this.#forgotAt) < ACTIVE_MS) return;
    this.#forgotAt = now;
    for (const watch of this.#watches.values()) {
      if (watch.pending || watch.isSendingCommand || now - watch.lastUsedAt < FORGET_AFTER_MS) continue;
      if (isKeyRefused(watch)) watch.hit = undefined;
      else this.#watches.delete(watch.serverId);
    }
  }
}
