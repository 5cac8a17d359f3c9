// The rows of maps.
import type { ImageType, MapImage, MapImageFacts } from "../../core/map-image.ts";
import type { PlaceKind, SeenPlace } from "../../core/seen-places.ts";

export type PlaceRow = {
  readonly kind: PlaceKind;
  readonly name: string;
  readonly cell_x: number;
  readonly cell_z: number;
  readonly count: number;
  readonly sum_x: number;
  readonly sum_z: number;
};

export type ImageFactsRow = {
  readonly type: ImageType;
  readonly width: number;
  readonly height: number;
  readonly min_x: number;
  readonly min_z: number;
  readonly max_x: number;
  readonly max_z: number;
  readonly hash: string;
  readonly bytes: number;
  readonly set_at: number;
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
    cellX: row.cell_x,
    cellZ: row.cell_z,
    count: row.count,
    sumX: row.sum_x,
    sumZ: row.sum_z,
  };
}

export function toImageRow({ content, left, top, right, bottom, setAt, ...rest }: MapImage): ImageRow {
  const corners = { min_x: left, min_z: top, max_x: right, max_z: bottom };
  return { ...rest, ...corners, set_at: setAt, content: Buffer.from(content).toString("base64") };
}

export function toImageFacts(row: ImageFactsRow): MapImageFacts {
  return {
    type: row.type,
    width: row.width,
    height: row.height,
    left: row.min_x,
    top: row.min_z,
    right: row.max_x,
    bottom: row.max_z,
    hash: row.hash,
    bytes: row.bytes,
    setAt: row.set_at,
  };
}

export function toMapImage(row: ImageRow): MapImage {
  // A copy of its own: a small buffer is part of a larger one that all buffers share.
  return { ...toImageFacts(row), content: new Uint8Array(Buffer.from(row.content, "base64")) };
}
