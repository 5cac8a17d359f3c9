// Serves the built dashboard at / and /assets. Only files of the manifest are served, and each is read when it is requested.
import { gunzipSync } from "node:zlib";
import { ERRORS, refuse } from "../core/errors.ts";
import { answerRefusal } from "./answers.ts";
import type { Call } from "./call.ts";
import { isMatchingEtag } from "./conditional.ts";
import { answerNotice } from "./notice-page.ts";
import { CACHE_FOR_EVER, PAGE_HEADERS, REVALIDATE } from "./page-headers.ts";
import { wantsGzip } from "./read-server.ts";

export const INDEX_NAME = "index.html";
export const MANIFEST_NAME = "manifest.json";

/** The files by name. Each is stored compressed, as `<name>.gz`. */
export type DashboardManifest = {
  readonly files: Readonly<Record<string, { readonly type: string; readonly etag: string }>>;
};

/** Finds a file of the build, in a folder or in the binary; undefined when there is none of that name. */
export type FindBuiltFile = (name: string) => Bun.BunFile | undefined;

const NOT_FOUND = refuse(ERRORS.notFound);

export class DashboardHandlers {
  readonly #findFile: FindBuiltFile;
  #manifest: DashboardManifest | undefined;

  constructor(findFile: FindBuiltFile) {
    this.#findFile = findFile;
  }

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
      return (await this.#findFile(MANIFEST_NAME)?.json()) as DashboardManifest | undefined;
    } catch {
      // Never built, or being replaced right now.
      return undefined;
    }
  }

  async #send(call: Call, name: string, cacheControl: string): Promise<Response> {
    const files = this.#manifest?.files;
    const file = files && Object.hasOwn(files, name) ? files[name] : undefined;
    const compressed = file && this.#findFile(`${name}.gz`);
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
    const bytes = await compressed.bytes().catch(() => undefined);
    if (!bytes) return answerRefusal(call, NOT_FOUND);
    if (!wantsGzip(requested.get("accept-encoding") ?? ""))
      return new Response(gunzipSync(bytes), { headers });
    return new Response(bytes, { headers: { ...headers, "Content-Encoding": "gzip" } });
  }
}
