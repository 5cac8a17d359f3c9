// Learns where streets and postal codes are from the positions in readings. It counts in memory and writes at most once a
// minute, so it costs a reading nearly nothing; what a crash takes is seen again.
import { StoreUnavailable } from "../../core/errors.ts";
import { elementsOf, type GameReading } from "../../core/events/reading.ts";
import { listSeenPlaces, type SeenPlace } from "../../core/maps/seen-places.ts";
import type { MapArchive } from "../../core/ports/archive.ts";
import type { Clock } from "../../core/ports/clock.ts";

export const WRITE_EVERY_MS = 60_000;
/** The first write comes sooner, so that a new map is not empty for a minute. */
const FIRST_WRITE_MS = 10_000;
/** More places of a server do not wait for the next write; they are seen again. */
export const WAITING_PLACES_MAX = 2_000;
/** The most servers whose places wait. */
const WAITING_SERVERS_MAX = 1_000;

type Counts = { -readonly [Field in keyof SeenPlace]: SeenPlace[Field] };

export class MapLearner {
  readonly #archive: Pick<MapArchive, "addPlaces">;
  readonly #clock: Clock;
  readonly #tellFault: (error: unknown) => void;
  /** By server, then by kind, name and cell. */
  readonly #waiting = new Map<string, Map<string, Counts>>();
  #writtenAt: number;
  #writing: Promise<void> | undefined;

  /** `tellFault` gets what only a bug can be the reason of. */
  constructor(archive: Pick<MapArchive, "addPlaces">, clock: Clock, tellFault: (error: unknown) => void) {
    this.#archive = archive;
    this.#clock = clock;
    this.#tellFault = tellFault;
    this.#writtenAt = clock() - WRITE_EVERY_MS + FIRST_WRITE_MS;
  }

  take(serverId: string, reading: GameReading): void {
    const players = elementsOf(reading, "Players");
    try {
      if (players && players.length > 0) this.#count(serverId, listSeenPlaces(players));
    } catch (error) {
      // The events of the reading are recorded all the same.
      this.#tellFault(error);
    }
    if (Math.abs(this.#clock() - this.#writtenAt) >= WRITE_EVERY_MS) void this.write();
  }

  /** Forgets what waits of a deleted server. */
  removeServer(serverId: string): void {
    this.#waiting.delete(serverId);
  }

  /** Writes what waits. Never throws: while the archive is away, the places wait for the next write. */
  async write(): Promise<void> {
    this.#writtenAt = this.#clock();
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
    await this.#writing;
  }

  #count(serverId: string, places: readonly SeenPlace[]): void {
    if (places.length === 0) return;
    let waiting = this.#waiting.get(serverId);
    if (!waiting) {
      if (this.#waiting.size >= WAITING_SERVERS_MAX) return;
      waiting = new Map();
      this.#waiting.set(serverId, waiting);
    }
    for (const place of places) {
      const key = `${place.kind} ${place.cellX} ${place.cellZ} ${place.name}`;
      const known = waiting.get(key);
      if (known) {
        known.count += 1;
        known.sumX += place.sumX;
        known.sumZ += place.sumZ;
      } else if (waiting.size < WAITING_PLACES_MAX) waiting.set(key, { ...place });
    }
  }

  async #writeAll(): Promise<void> {
    for (const [serverId, places] of [...this.#waiting]) {
      // Counted anew while these are written.
      this.#waiting.delete(serverId);
      try {
        await this.#archive.addPlaces(serverId, [...places.values()]);
      } catch (error) {
        if (error instanceof StoreUnavailable) {
          // The recorder tells the operator that the archive is away.
          if (!this.#waiting.has(serverId)) this.#waiting.set(serverId, places);
          return;
        }
        this.#tellFault(error);
      }
    }
  }
}
