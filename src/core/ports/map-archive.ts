// What the archive keeps of the game's map, for each server: where names were seen, and a picture set by an operator.
import type { MapImage, MapImageFacts } from "../map-image.ts";
import type { SeenPlace } from "../seen-places.ts";

export interface MapArchive {
  /**
   * Adds to the counts of the places. A server without a ledger is ignored, so that a deleted one does not come back. Above
   * PLACES_MAX the places that were seen least are dropped.
   */
  addPlaces(serverId: string, places: readonly SeenPlace[]): Promise<void>;
  /** In no particular order. */
  listPlaces(serverId: string): Promise<readonly SeenPlace[]>;
  /** Replaces the picture that there was. */
  saveMapImage(serverId: string, image: MapImage): Promise<void>;
  /** Without the bytes. */
  findMapImage(serverId: string): Promise<MapImageFacts | undefined>;
  readMapImage(serverId: string): Promise<MapImage | undefined>;
  removeMapImage(serverId: string): Promise<void>;
}
