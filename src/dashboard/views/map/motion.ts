// Animates markers from their previous position to the new one. The caller passes the time.
import type { Marker } from "./markers.ts";

export const GLIDE_MS = 1_200;

export class Motion {
  #markers: readonly Marker[] = [];
  #from = new Float64Array(0);
  /** x and y of each marker, in the order of the markers, as of the last `step`. */
  #at = new Float64Array(0);
  #startedAt = 0;
  #isMoving = false;
  #indexOf: ReadonlyMap<string, number> = new Map();

  get markers(): readonly Marker[] {
    return this.#markers;
  }

  get positions(): Float64Array {
    return this.#at;
  }

  get isMoving(): boolean {
    return this.#isMoving;
  }

  find(key: string | undefined): number | undefined {
    return key === undefined ? undefined : this.#indexOf.get(key);
  }

  /** A known marker starts where it is drawn. Without animation, every marker is at its new position at once. */
  update(markers: readonly Marker[], now: number, isAnimated: boolean): void {
    const before = this.#indexOf;
    const drawn = this.#at;
    const from = new Float64Array(markers.length * 2);
    this.#isMoving = false;
    for (const [index, { key, x, y }] of markers.entries()) {
      const old = isAnimated ? before.get(key) : undefined;
      const fromX = (old === undefined ? undefined : drawn[old * 2]) ?? x;
      const fromY = (old === undefined ? undefined : drawn[old * 2 + 1]) ?? y;
      from[index * 2] = fromX;
      from[index * 2 + 1] = fromY;
      if (fromX !== x || fromY !== y) this.#isMoving = true;
    }
    this.#markers = markers;
    this.#indexOf = new Map(markers.map(({ key }, index) => [key, index]));
    this.#from = from;
    this.#at = from.slice();
    this.#startedAt = now;
  }

  /** Moves all markers to their position at `now`. */
  step(now: number): void {
    if (!this.#isMoving) return;
    const share = Math.min(Math.max((now - this.#startedAt) / GLIDE_MS, 0), 1);
    const eased = 1 - (1 - share) ** 3;
    for (const [index, { x, y }] of this.#markers.entries()) {
      const fromX = this.#from[index * 2] ?? x;
      const fromY = this.#from[index * 2 + 1] ?? y;
      this.#at[index * 2] = fromX + (x - fromX) * eased;
      this.#at[index * 2 + 1] = fromY + (y - fromY) * eased;
    }
    this.#isMoving = share < 1;
  }
}
