// One reading of a game server, ready to be sent: sections are text already, and a body that was assembled once for
// a set of sections is kept with its ETag and its compressed form.
import type { ServerParts } from "../../core/ports/upstream.ts";
import { SECTIONS, type SectionSet } from "../../core/sections.ts";

/** There are 512 sets of sections; callers of one server use a few. The oldest body makes room for a new one. */
export const BODIES_MAX = 16;
/** Below this the header of a compressed body and the work of unpacking it are not worth it. */
export const GZIP_MIN_BYTES = 860;

const encoder = new TextEncoder();

export class Body {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly etag: string;
  #gzipped: Uint8Array<ArrayBuffer> | null | undefined;

  constructor(text: string) {
    this.bytes = encoder.encode(text);
    // Weak, because the same tag stands for the plain and the compressed form.
    this.etag = `W/"${Bun.hash(this.bytes).toString(36)}"`;
  }

  /** Asked before the caller's headers are looked at: small bodies spare that look. */
  get mayBePacked(): boolean {
    return this.bytes.length >= GZIP_MIN_BYTES;
  }

  /** Null when compressing is not worth it. */
  get gzipped(): Uint8Array<ArrayBuffer> | null {
    if (this.#gzipped === undefined) this.#gzipped = this.#compress();
    return this.#gzipped;
  }

  #compress(): Uint8Array<ArrayBuffer> | null {
    if (!this.mayBePacked) return null;
    const packed = Bun.gzipSync(this.bytes, { level: 6 });
    return packed.length < this.bytes.length ? packed : null;
  }
}

export class Snapshot {
  readonly #bodies = new Map<SectionSet, Body>();

  constructor(
    readonly parts: ServerParts,
    readonly fetchedAt: number,
  ) {}

  body(sections: SectionSet): Body {
    const kept = this.#bodies.get(sections);
    if (kept) return kept;
    const body = new Body(this.#assemble(sections));
    if (this.#bodies.size >= BODIES_MAX) {
      const oldest = this.#bodies.keys().next();
      if (!oldest.done) this.#bodies.delete(oldest.value);
    }
    this.#bodies.set(sections, body);
    return body;
  }

  #assemble(sections: SectionSet): string {
    let text = this.parts.base;
    for (const [bit, name] of SECTIONS.entries()) {
      if (sections & (1 << bit)) text += `,"${name}":${this.parts.sections[bit]}`;
    }
    return `${text}}`;
  }
}
