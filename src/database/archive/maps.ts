// Maps: where streets and postal codes were seen, and the picture behind the map.
import type { MapImage, MapImageFacts } from "../../core/map-image.ts";
import { PLACES_MAX, SEEN_MAX, type SeenPlace } from "../../core/seen-places.ts";
import type { Sql } from "../sql.ts";
import { findLedger, lockLedger, obtainLedger } from "./ledger.ts";
import {
  IMAGE_FACTS,
  type ImageFactsRow,
  type ImageRow,
  type PlaceRow,
  toImageFacts,
  toImageRow,
  toMapImage,
  toPlaceRow,
  toSeenPlace,
} from "./map-rows.ts";
import { MAP_IMAGES, PLACES } from "./migrations.ts";

/** The row of the ledger is locked first, so that instances cannot wait for each other's places. */
export async function addPlaces(sql: Sql, serverId: string, places: readonly SeenPlace[]): Promise<void> {
  const row = await lockLedger(sql, serverId);
  if (!row) return;
  const { ledger } = row;
  await sql.insertAll(
    PLACES,
    places.map((place) => ({ ledger, ...toPlaceRow(place) })),
    `ON CONFLICT (ledger, kind, name, cell_x, cell_z) DO UPDATE SET count = places.count + excluded.count,
       sum_x = places.sum_x + excluded.sum_x, sum_z = places.sum_z + excluded.sum_z WHERE places.count < ${SEEN_MAX}`,
  );
  const kept = await sql.get<{ places: number }>(
    "SELECT count(*) AS places FROM places WHERE ledger = ?1",
    ledger,
  );
  const excess = (kept?.places ?? 0) - PLACES_MAX;
  if (excess <= 0) return;
  await sql.run(
    `DELETE FROM places WHERE ledger = ?1 AND (kind, name, cell_x, cell_z) IN
       (SELECT kind, name, cell_x, cell_z FROM places WHERE ledger = ?1 ORDER BY count LIMIT ?2)`,
    ledger,
    excess,
  );
}

export async function listPlaces(sql: Sql, serverId: string): Promise<SeenPlace[]> {
  const rows = await sql.all<PlaceRow>(
    `SELECT kind, name, cell_x, cell_z, count, sum_x, sum_z FROM places JOIN ledgers USING (ledger) WHERE server_id = ?1`,
    serverId,
  );
  return rows.map(toSeenPlace);
}

export async function saveMapImage(sql: Sql, serverId: string, image: MapImage): Promise<void> {
  const { ledger } = await obtainLedger(sql, serverId);
  await sql.run("DELETE FROM map_images WHERE ledger = ?1", ledger);
  await sql.insertAll(MAP_IMAGES, [{ ledger, ...toImageRow(image) }]);
}

export async function findMapImage(sql: Sql, serverId: string): Promise<MapImageFacts | undefined> {
  const row = await sql.get<ImageFactsRow>(
    `SELECT ${IMAGE_FACTS} FROM map_images JOIN ledgers USING (ledger) WHERE server_id = ?1`,
    serverId,
  );
  return row && toImageFacts(row);
}

export async function readMapImage(sql: Sql, serverId: string): Promise<MapImage | undefined> {
  const row = await sql.get<ImageRow>(
    `SELECT ${IMAGE_FACTS}, content FROM map_images JOIN ledgers USING (ledger) WHERE server_id = ?1`,
    serverId,
  );
  return row && toMapImage(row);
}

export async function removeMapImage(sql: Sql, serverId: string): Promise<void> {
  const row = await findLedger(sql, serverId);
  if (row) await sql.run("DELETE FROM map_images WHERE ledger = ?1", row.ledger);
}
