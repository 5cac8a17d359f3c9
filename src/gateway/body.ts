// A body that is sent to many readers: encoded once, with its ETag and its compressed form.

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
