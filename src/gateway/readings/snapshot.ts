// One reading of a game server, ready to be sent. Sections are already JSON text, and the body for each set of sections is
// cached with its ETag and its compressed form.
import type { ServerParts } from "../../core/ports/upstream.ts";
import { SECTIONS, type SectionSet } from "../../core/sections.ts";

/** Callers of one server use few of the 512 sets of sections. Beyond this many, the oldest body is dropped. */
export const BODIES_MAX = 16;
/** Smaller bodies are not compressed, because it would save too little. */
export const GZIP_MIN_BYTES = 860;

const encoder = new TextEncoder();

export class Body {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly etag: string;
  #gzipped: Uint8Array<ArrayBuffer> | null | undefined;

  constructor(text: string) {
    this.bytes = encoder.encode(text);
    // A weak ETag, because the plain and the compressed form share it.
    this.etag = `W/"${Bun.hash(this.bytes).toString(36)}"`;
  }

  /** Lets callers of `gzipped` skip parsing Accept-Encoding for small bodies. */
  get isCompressible(): boolean {
    return this.bytes.length >= GZIP_MIN_BYTES;
  }

  /** Null when compressing is not worth it. */
  get gzipped(): Uint8Array<ArrayBuffer> | null {
    if (this.#gzipped === undefined) this.#gzipped = this.#compress();
    return this.#gzipped;
  }

  #compress(): Uint8Array<ArrayBuffer> | null {
    if (!this.isCompressible) return null;
    const compressed = Bun.gzipSync(this.bytes, { level: 6 });
    return compressed.length < this.bytes.length ? compressed : null;
  }
}

export class Snapshot {
  readonly #bodies = new Map<SectionSet, Body>();

  constructor(
    readonly parts: ServerParts,
    readonly fetchedAt: number,
  ) {}

  body(sections: SectionSet): Body {
    const cached = this.#bodies.get(sections);
    if (cached) return cached;
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
