// Maps: where streets and postal codes were seen, and the picture behind the map.
import type { MapImage, MapImageFacts } from "../../core/maps/map-image.ts";
import { PLACES_MAX, SEEN_MAX, type SeenPlace } from "../../core/maps/seen-places.ts";
import { asFields, countRows, type Row, type Sql } from "../sql.ts";
import { obtainLedger } from "./ledger.ts";
import { findLedger, lockLedger } from "./ledger-rows.ts";
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
  const excess = (await countRows(sql, "places", "ledger = ?1", ledger)) - PLACES_MAX;
  if (excess <= 0) return;
  await sql.run(
    `DELETE FROM places WHERE ledger = ?1 AND (kind, name, cell_x, cell_z) IN
       (SELECT kind, name, cell_x, cell_z FROM places WHERE ledger = ?1 ORDER BY count LIMIT ?2)`,
    ...[ledger, excess],
  );
}

export async function listPlaces(sql: Sql, serverId: string): Promise<SeenPlace[]> {
  const fields = asFields("kind, name, cell_x, cell_z, count, sum_x, sum_z");
  const query = `SELECT ${fields} FROM places JOIN ledgers USING (ledger) WHERE server_id = ?1`;
  return sql.all<SeenPlace>(query, serverId);
}

export async function saveMapImage(sql: Sql, serverId: string, image: MapImage): Promise<void> {
  const { ledger } = await obtainLedger(sql, serverId);
  await sql.run("DELETE FROM map_images WHERE ledger = ?1", ledger);
  await sql.insertAll(MAP_IMAGES, [{ ledger, ...toImageRow(image) }]);
}

export async function findMapImage(sql: Sql, serverId: string): Promise<MapImageFacts | undefined> {
  const query = `SELECT ${IMAGE_FACTS} FROM map_images JOIN ledgers USING (ledger) WHERE server_id = ?1`;
  return sql.get<MapImageFacts>(query, serverId);
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

/** `content` is base64, so that a picture moves between the archives like any other text. */
type ImageRow = MapImageFacts & { readonly content: string };

const IMAGE_FACTS = `min_x AS "left", min_z AS "top", max_x AS "right", max_z AS "bottom",
  ${asFields("type, width, height, hash, bytes, set_at")}`;

function toPlaceRow({ kind, name, cellX, cellZ, count, sumX, sumZ }: SeenPlace): Row {
  return { kind, name, cell_x: cellX, cell_z: cellZ, count, sum_x: sumX, sum_z: sumZ };
}

function toImageRow({ content, left, top, right, bottom, setAt, ...rest }: MapImage): Row {
  const corners = { min_x: left, min_z: top, max_x: right, max_z: bottom };
  return { ...rest, ...corners, set_at: setAt, content: Buffer.from(content).toString("base64") };
}

function toMapImage(row: ImageRow): MapImage {
  // A copy of its own: a small buffer is part of a larger one that all buffers share.
  return { ...row, content: new Uint8Array(Buffer.from(row.content, "base64")) };
}
