// Maps in PostgreSQL, inside of a transaction.
import type { TransactionSQL } from "bun";
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
  toPlaceRow,
  toSeenPlace,
} from "../map-rows.ts";

/** The row of the ledger is locked first, so that instances cannot wait for each other's places. */
export async function addPlaces(
  tx: TransactionSQL,
  serverId: string,
  places: readonly SeenPlace[],
): Promise<void> {
  const [row] = await tx<{ ledger: string }[]>`
    SELECT ledger FROM gatehouse_ledgers WHERE server_id = ${serverId} FOR UPDATE`;
  if (!row) return;
  const { ledger } = row;
  await tx`INSERT INTO gatehouse_places AS known (ledger, kind, name, cell_x, cell_z, count, sum_x, sum_z)
    SELECT ${ledger}, * FROM json_to_recordset(${JSON.stringify(places.map(toPlaceRow))}::text::json) AS
      (kind text, name text, cell_x bigint, cell_z bigint, count bigint, sum_x bigint, sum_z bigint)
    ON CONFLICT (ledger, kind, name, cell_x, cell_z) DO UPDATE SET count = known.count + excluded.count,
      sum_x = known.sum_x + excluded.sum_x, sum_z = known.sum_z + excluded.sum_z
      WHERE known.count < ${SEEN_MAX}`;
  const [kept] = await tx<{ places: string }[]>`
    SELECT count(*) AS places FROM gatehouse_places WHERE ledger = ${ledger}`;
  const excess = Number(kept?.places ?? 0) - PLACES_MAX;
  if (excess <= 0) return;
  await tx`DELETE FROM gatehouse_places WHERE ledger = ${ledger} AND (kind, name, cell_x, cell_z) IN
    (SELECT kind, name, cell_x, cell_z FROM gatehouse_places WHERE ledger = ${ledger}
     ORDER BY count LIMIT ${excess})`;
}

export async function listPlaces(tx: TransactionSQL, serverId: string): Promise<SeenPlace[]> {
  const rows = await tx<PlaceRow[]>`
    SELECT kind, name, cell_x, cell_z, count, sum_x, sum_z
    FROM gatehouse_places JOIN gatehouse_ledgers USING (ledger) WHERE server_id = ${serverId}`;
  return rows.map(toSeenPlace);
}

export async function saveImage(tx: TransactionSQL, ledger: string, image: MapImage): Promise<void> {
  const row = toImageRow(image);
  await tx`DELETE FROM gatehouse_map_images WHERE ledger = ${ledger}`;
  await tx`INSERT INTO gatehouse_map_images (ledger, type, width, height, min_x, min_z, max_x, max_z, hash, bytes,
      set_at, content)
    VALUES (${ledger}, ${row.type}, ${row.width}, ${row.height}, ${row.min_x}, ${row.min_z}, ${row.max_x},
      ${row.max_z}, ${row.hash}, ${row.bytes}, ${row.set_at}, ${row.content})`;
}

export async function findImage(tx: TransactionSQL, serverId: string): Promise<MapImageFacts | undefined> {
  const [row]: ImageFactsRow[] = await tx.unsafe(
    `SELECT ${IMAGE_FACTS} FROM gatehouse_map_images JOIN gatehouse_ledgers USING (ledger) WHERE server_id = $1`,
    [serverId],
  );
  return row && toImageFacts(row);
}

export async function readImage(tx: TransactionSQL, serverId: string): Promise<MapImage | undefined> {
  const [row]: ImageRow[] = await tx.unsafe(
    `SELECT ${IMAGE_FACTS}, content FROM gatehouse_map_images JOIN gatehouse_ledgers USING (ledger)
     WHERE server_id = $1`,
    [serverId],
  );
  return row && toMapImage(row);
}

export async function removeImage(tx: TransactionSQL, serverId: string): Promise<void> {
  await tx`DELETE FROM gatehouse_map_images
    WHERE ledger IN (SELECT ledger FROM gatehouse_ledgers WHERE server_id = ${serverId})`;
}
