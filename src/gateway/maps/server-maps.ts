// The maps of servers for readers and operators. A map is read from the archive at most every half minute, however many ask.
import type { MapCorners, MapImage, MapImageFacts } from "../../core/maps/map-image.ts";
import { CELL_SIZE, type PlaceKind, type SeenPlace } from "../../core/maps/seen-places.ts";
import type { MapArchive } from "../../core/ports/archive.ts";
import type { Actor, AuditDetails, AuditStore } from "../../core/ports/audit.ts";
import type { GameMapResource, MapImageResource } from "../../core/wire/game-map.ts";
import { Body } from "../body.ts";

const FRESH_MS = 30_000;
/** The most maps, and the most pictures, that are held. The oldest is dropped first. */
export const MAPS_MAX = 100;
export const IMAGES_MAX = 4;

export type ServerMapsDeps = { readonly archive: MapArchive; readonly audit: Pick<AuditStore, "add"> };

/** Without the corners, which may change while the bytes stay. */
type Picture = Pick<MapImage, "type" | "hash" | "content">;

type HeldMap = { readonly readAt: number; readonly body: Promise<Body> };
type HeldImage = { readonly hash: string; readonly picture: Promise<Picture | undefined> };

export class ServerMaps {
  readonly #maps = new Map<string, HeldMap>();
  /** By server. */
  readonly #images = new Map<string, HeldImage>();

  constructor(private readonly deps: ServerMapsDeps) {}

  /** The map as JSON, ready to be sent. */
  async read(serverId: string, now: number): Promise<Body> {
    const held = this.#maps.get(serverId);
    if (held && Math.abs(now - held.readAt) < FRESH_MS) return held.body;
    const body = this.#load(serverId);
    hold(this.#maps, serverId, { readAt: now, body }, MAPS_MAX);
    try {
      return await body;
    } catch (error) {
      // The next reader tries again.
      if (this.#maps.get(serverId)?.body === body) this.#maps.delete(serverId);
      throw error;
    }
  }

  async readImage(serverId: string): Promise<Picture | undefined> {
    const { archive } = this.deps;
    // Asked each time, because another instance may have changed it.
    const facts = await archive.findMapImage(serverId);
    if (!facts) {
      this.#images.delete(serverId);
      return undefined;
    }
    const held = this.#images.get(serverId);
    if (held?.hash === facts.hash) return held.picture;
    const picture = archive.readMapImage(serverId);
    hold(this.#images, serverId, { hash: facts.hash, picture }, IMAGES_MAX);
    const isRight = await picture.then(
      (read) => read?.hash === facts.hash,
      () => false,
    );
    // The next reader tries again after a failure, or when it was replaced meanwhile.
    if (!isRight && this.#images.get(serverId)?.picture === picture) this.#images.delete(serverId);
    return picture;
  }

  /**
   * The archive and the audit log are two databases, so the two are not written together. The entry comes first: a change that
   * is not in the log would be worse than an entry for a change that failed.
   */
  async setImage(serverId: string, image: MapImage, actor: Actor): Promise<void> {
    const before = await this.#describeCorners(serverId);
    const after = cornersOf(image);
    await this.#note("server.map_image_set", serverId, image.setAt, actor, {
      ...(before && { before }),
      after: { ...after, type: image.type, bytes: image.bytes },
    });
    await this.deps.archive.saveMapImage(serverId, image);
    this.forget(serverId);
  }

  /** False when there is none. */
  async removeImage(serverId: string, actor: Actor, now: number): Promise<boolean> {
    const before = await this.#describeCorners(serverId);
    if (!before) return false;
    await this.#note("server.map_image_removed", serverId, now, actor, { before });
    await this.deps.archive.removeMapImage(serverId);
    this.forget(serverId);
    return true;
  }

  /** Drops what is held of a server. */
  forget(serverId: string): void {
    this.#maps.delete(serverId);
    this.#images.delete(serverId);
  }

  async #load(serverId: string): Promise<Body> {
    const { archive } = this.deps;
    const [places, image] = await Promise.all([archive.listPlaces(serverId), archive.findMapImage(serverId)]);
    return new Body(JSON.stringify(describeMap(places, image)));
  }

  async #describeCorners(serverId: string): Promise<Record<string, unknown> | undefined> {
    const facts = await this.deps.archive.findMapImage(serverId);
    return facts && { ...cornersOf(facts), type: facts.type, bytes: facts.bytes };
  }

  async #note(action: string, serverId: string, at: number, actor: Actor, details: AuditDetails): Promise<void> {
    await this.deps.audit.add(serverId, { at, action, actor, details, serverId });
  }
}

function cornersOf({ left, top, right, bottom }: MapCorners): MapCorners {
  return { left, top, right, bottom };
}

function hold<V>(held: Map<string, V>, key: string, value: V, max: number): void {
  held.delete(key);
  held.set(key, value);
  const [oldest] = held.keys();
  if (held.size > max && oldest !== undefined) held.delete(oldest);
}

/** The most names of each kind; those that were seen most. */
const NAMES_MAX = 500;

type Cell = [x: number, z: number, seen: number];

function describeMap(places: readonly SeenPlace[], image: MapImageFacts | undefined): GameMapResource {
  return {
    cell_size: CELL_SIZE,
    streets: listNames(places, "street"),
    postal_codes: listNames(places, "postal"),
    image: image ? describeMapImage(image) : null,
  };
}

export function describeMapImage({ hash, setAt, ...facts }: MapImageFacts): MapImageResource {
  const { type, width, height, bytes, left, top, right, bottom } = facts;
  return { type, width, height, bytes, left, top, right, bottom, set_at: setAt, etag: `"${hash}"` };
}

function listNames(places: readonly SeenPlace[], kind: PlaceKind): { name: string; cells: Cell[] }[] {
  const names = new Map<string, { seen: number; cells: Cell[] }>();
  for (const { name, cellX, cellZ, count, sumX, sumZ, ...rest } of places) {
    if (rest.kind !== kind) continue;
    const known = names.get(name) ?? { seen: 0, cells: [] };
    known.seen += count;
    known.cells.push([toMean(cellX, sumX, count), toMean(cellZ, sumZ, count), count]);
    names.set(name, known);
  }
  return [...names]
    .sort(([nameA, a], [nameB, b]) => b.seen - a.seen || (nameA < nameB ? -1 : 1))
    .slice(0, NAMES_MAX)
    .map(([name, { cells }]) => ({ name, cells: cells.sort(([xA, zA], [xB, zB]) => xA - xB || zA - zB) }));
}

/** Inside of the cell, so that readers can tell which cell it is. */
function toMean(cell: number, sum: number, count: number): number {
  return cell * CELL_SIZE + Math.min(Math.round(sum / count), CELL_SIZE - 1);
}
