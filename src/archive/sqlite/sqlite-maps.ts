// Maps in SQLite. Synchronous, like the ledgers.
import type { Database } from "bun:sqlite";
import type { MapImage, MapImageFacts } from "../../core/map-image.ts";
import { PLACES_MAX, SEEN_MAX, type SeenPlace } from "../../core/seen-places.ts";
import {
  IMAGE_FACTS,
  type ImageFactsRow,
  type ImageRow,
  type PlaceRow,
  toImageFacts,
  toImageRow,
  toMapImage,
  toSeenPlace,
} from "../map-rows.ts";

export class SqliteMaps {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  addPlaces(ledger: number, places: readonly SeenPlace[]): void {
    const add = this.#db.query(
      `INSERT INTO places (ledger, kind, name, cell_x, cell_z, count, sum_x, sum_z)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
       ON CONFLICT DO UPDATE SET count = count + excluded.count, sum_x = sum_x + excluded.sum_x,
         sum_z = sum_z + excluded.sum_z WHERE count < ?9`,
    );
    for (const { kind, name, cellX, cellZ, count, sumX, sumZ } of places)
      add.run(ledger, kind, name, cellX, cellZ, count, sumX, sumZ, SEEN_MAX);
    const kept = this.#db
      .query<{ places: number }, [number]>("SELECT count(*) AS places FROM places WHERE ledger = ?")
      .get(ledger);
    const excess = (kept?.places ?? 0) - PLACES_MAX;
    if (excess <= 0) return;
    this.#db
      .query(
        `DELETE FROM places WHERE ledger = ?1 AND (kind, name, cell_x, cell_z) IN
           (SELECT kind, name, cell_x, cell_z FROM places WHERE ledger = ?1 ORDER BY count LIMIT ?2)`,
      )
      .run(ledger, excess);
  }

  listPlaces(ledger: number): SeenPlace[] {
    return this.#db
      .query<PlaceRow, [number]>(
        "SELECT kind, name, cell_x, cell_z, count, sum_x, sum_z FROM places WHERE ledger = ?",
      )
      .all(ledger)
      .map(toSeenPlace);
  }

  saveImage(ledger: number, image: MapImage): void {
    const row = toImageRow(image);
    this.#db
      .query(
        `INSERT OR REPLACE INTO map_images (ledger, ${IMAGE_FACTS}, content)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(
        ledger,
        row.type,
        row.width,
        row.height,
        row.min_x,
        row.min_z,
        row.max_x,
        row.max_z,
        row.hash,
        row.bytes,
        row.set_at,
        row.content,
      );
  }

  findImage(ledger: number): MapImageFacts | undefined {
    const row = this.#db
      .query<ImageFactsRow, [number]>(`SELECT ${IMAGE_FACTS} FROM map_images WHERE ledger = ?`)
      .get(ledger);
    return row ? toImageFacts(row) : undefined;
  }

  readImage(ledger: number): MapImage | undefined {
    const row = this.#db
      .query<ImageRow, [number]>(`SELECT ${IMAGE_FACTS}, content FROM map_images WHERE ledger = ?`)
      .get(ledger);
    return row ? toMapImage(row) : undefined;
  }

  removeImage(ledger: number): void {
    this.#db.query("DELETE FROM map_images WHERE ledger = ?").run(ledger);
  }
}
