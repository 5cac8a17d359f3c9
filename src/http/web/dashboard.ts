// Serves the built dashboard at / and /assets. Only files of the manifest are served, and each is read when it is requested;
// for clients without gzip it is unpacked once and kept.
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { ERRORS, refuse } from "../../core/errors.ts";
import { answerRefusal } from "../answers.ts";
import type { Call } from "../call.ts";
import { isMatchingEtag } from "../sending/conditional.ts";
import { wantsGzip } from "../sending/send-body.ts";
import { answerNotice, CACHE_FOR_EVER, PAGE_HEADERS, REVALIDATE } from "./page-headers.ts";

export const INDEX_NAME = "index.html";
export const MANIFEST_NAME = "manifest.json";

/** The files by name. Each is stored compressed, as `<name>.gz`. */
export type DashboardManifest = {
  readonly files: Readonly<Record<string, { readonly type: string; readonly etag: string }>>;
};

/** Finds a file of the build, in a folder or in the binary; undefined when there is none of that name. */
export type FindBuiltFile = (name: string) => Bun.BunFile | undefined;

const NOT_FOUND = refuse(ERRORS.notFound);
const unpack = promisify(gunzip);

/** `etag` tells whether it is still the file of the manifest. */
type UnpackedFile = { readonly etag: string; readonly body: Promise<Blob> };

export class DashboardHandlers {
  #manifest: DashboardManifest | undefined;
  /** By name; only files of the manifest. */
  readonly #unpacked = new Map<string, UnpackedFile>();

  constructor(private readonly findFile: FindBuiltFile) {}

  async answerPage(call: Call): Promise<Response> {
    // Read for each page, because in a checkout the dashboard may have been built again.
    this.#manifest = await this.#readManifest();
    if (this.#manifest) return this.#send(call, INDEX_NAME, REVALIDATE);
    return answerNotice("Gatehouse is running", [
      "Its dashboard was not built. In the folder of Gatehouse, run <code>npm run dashboard</code>, which also says why " +
        "it could not be built, then reload this page.",
      "The API is not affected.",
    ]);
  }

  async answerAsset(call: Call): Promise<Response> {
    this.#manifest ??= await this.#readManifest();
    const name = call.target.params.file ?? "";
    if (name === INDEX_NAME) return answerRefusal(call, NOT_FOUND);
    return this.#send(call, name, CACHE_FOR_EVER);
  }

  async #readManifest(): Promise<DashboardManifest | undefined> {
    try {
      return (await this.findFile(MANIFEST_NAME)?.json()) as DashboardManifest | undefined;
    } catch {
      // Never built, or being replaced right now.
      return undefined;
    }
  }

  async #send(call: Call, name: string, cacheControl: string): Promise<Response> {
    const files = this.#manifest?.files;
    const file = files && Object.hasOwn(files, name) ? files[name] : undefined;
    const compressed = file && this.findFile(`${name}.gz`);
    if (!file || !compressed) return answerRefusal(call, NOT_FOUND);
    const { headers: requested } = call.request;
    const headers = {
      ...PAGE_HEADERS,
      "Content-Type": file.type,
      "Cache-Control": cacheControl,
      Vary: "Accept-Encoding",
      ETag: file.etag,
    };
    if (isMatchingEtag(requested.get("if-none-match"), file.etag)) {
      return new Response(null, { status: 304, headers });
    }
    const isPacked = wantsGzip(requested.get("accept-encoding") ?? "");
    const reading = isPacked ? compressed.bytes() : this.#unpackOnce(name, file.etag, compressed);
    const body = await reading.catch(() => undefined);
    if (!body) return answerRefusal(call, NOT_FOUND);
    return new Response(body, { headers: isPacked ? { ...headers, "Content-Encoding": "gzip" } : headers });
  }

  /** Unpacking takes far longer than sending, and anybody may ask for it. */
  #unpackOnce(name: string, etag: string, compressed: Blob): Promise<Blob> {
    const known = this.#unpacked.get(name);
    if (known?.etag === etag) return known.body;
    for (const other of this.#unpacked.keys()) {
      if (!Object.hasOwn(this.#manifest?.files ?? {}, other)) this.#unpacked.delete(other);
    }
    const body = unpackFile(compressed);
    this.#unpacked.set(name, { etag, body });
    // Without file descriptors the file cannot be read; the next request tries again.
    body.catch(() => this.#unpacked.delete(name));
    return body;
  }
}

async function unpackFile(compressed: Blob): Promise<Blob> {
  return new Blob([await unpack(await compressed.bytes())]);
}
