// The rows of maps that both archives have.
import type { ImageType, MapImage, MapImageFacts } from "../core/map-image.ts";
import type { PlaceKind, SeenPlace } from "../core/seen-places.ts";

/** PostgreSQL gives int8 as text. */
export type PlaceRow = {
  readonly kind: PlaceKind;
  readonly name: string;
  readonly cell_x: number | string;
  readonly cell_z: number | string;
  readonly count: number | string;
  readonly sum_x: number | string;
  readonly sum_z: number | string;
};

export type ImageFactsRow = {
  readonly type: ImageType;
  readonly width: number | string;
  readonly height: number | string;
  readonly min_x: number | string;
  readonly min_z: number | string;
  readonly max_x: number | string;
  readonly max_z: number | string;
  readonly hash: string;
  readonly bytes: number | string;
  readonly set_at: number | string;
};
/** `content` is base64, so that a picture moves between the archives like any other text. */
export type ImageRow = ImageFactsRow & { readonly content: string };

export const IMAGE_FACTS = "type, width, height, min_x, min_z, max_x, max_z, hash, bytes, set_at";

export function toPlaceRow({ kind, name, cellX, cellZ, count, sumX, sumZ }: SeenPlace): PlaceRow {
  return { kind, name, cell_x: cellX, cell_z: cellZ, count, sum_x: sumX, sum_z: sumZ };
}

export function toSeenPlace(row: PlaceRow): SeenPlace {
  return {
    kind: row.kind,
    name: row.name,
    cellX: Number(row.cell_x),
    cellZ: Number(row.cell_z),
    count: Number(row.count),
    sumX: Number(row.sum_x),
    sumZ: Number(row.sum_z),
  };
}

export function toImageRow({ content, left, top, right, bottom, setAt, ...rest }: MapImage): ImageRow {
  const corners = { min_x: left, min_z: top, max_x: right, max_z: bottom };
  return { ...rest, ...corners, set_at: setAt, content: Buffer.from(content).toString("base64") };
}

export function toImageFacts(row: ImageFactsRow): MapImageFacts {
  return {
    type: row.type,
    width: Number(row.width),
    height: Number(row.height),
    left: Number(row.min_x),
    top: Number(row.min_z),
    right: Number(row.max_x),
    bottom: Number(row.max_z),
    hash: row.hash,
    bytes: Number(row.bytes),
    setAt: Number(row.set_at),
  };
}

export function toMapImage(row: ImageRow): MapImage {
  // A copy of its own: a small buffer is part of a larger one that all buffers share.
  return { ...toImageFacts(row), content: new Uint8Array(Buffer.from(row.content, "base64")) };
}
