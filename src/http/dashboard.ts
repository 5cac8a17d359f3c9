// The dashboard's files at / and /assets: what the build left, with headers that let the page load and ask nothing but us.
// Only files of the manifest are served; none is read before somebody asks.
import { gunzipSync } from "node:zlib";
import { ERRORS, refuse } from "../core/errors.ts";
import { answerRefusal } from "./answers.ts";
import type { Call, Handler } from "./call.ts";
import { isMatchingEtag } from "./conditional.ts";
import { answerNotice } from "./notice-page.ts";
import { ASK_AGAIN, KEEP_FOR_EVER, PAGE_HEADERS } from "./page-headers.ts";
import { wantsGzip } from "./read-server.ts";

export const INDEX_NAME = "index.html";
export const MANIFEST_NAME = "manifest.json";

/** The files there are, by name. Each is kept packed with gzip, as `<name>.gz`. */
export type DashboardManifest = {
  readonly files: Readonly<Record<string, { readonly type: string; readonly etag: string }>>;
};

/** Finds a file of the build, be it in a folder or in the binary; undefined when there is none of that name. */
export type FindBuiltFile = (name: string) => Bun.BunFile | undefined;

export type Dashboard = { readonly page: Handler; readonly asset: Handler };

const NOT_FOUND = refuse(ERRORS.notFound);

export function createDashboard(findFile: FindBuiltFile): Dashboard {
  let manifest: DashboardManifest | undefined;

  async function readManifest(): Promise<DashboardManifest | undefined> {
    try {
      return (await findFile(MANIFEST_NAME)?.json()) as DashboardManifest | undefined;
    } catch {
      // Never built, or being replaced at this moment.
      return undefined;
    }
  }

  async function send(call: Call, name: string, cacheControl: string): Promise<Response> {
    const file = manifest && Object.hasOwn(manifest.files, name) ? manifest.files[name] : undefined;
    const packed = file && findFile(`${name}.gz`);
    if (!file || !packed) return answerRefusal(call, NOT_FOUND);
    const { headers: asked } = call.request;
    const headers = {
      ...PAGE_HEADERS,
      "Content-Type": file.type,
      "Cache-Control": cacheControl,
      Vary: "Accept-Encoding",
      ETag: file.etag,
    };
    if (isMatchingEtag(asked.get("if-none-match"), file.etag)) {
      return new Response(null, { status: 304, headers });
    }
    const bytes = await packed.bytes().catch(() => undefined);
    if (!bytes) return answerRefusal(call, NOT_FOUND);
    if (!wantsGzip(asked.get("accept-encoding") ?? "")) return new Response(gunzipSync(bytes), { headers });
    return new Response(bytes, { headers: { ...headers, "Content-Encoding": "gzip" } });
  }

  return {
    page: async (call) => {
      // Read anew for each page: in a checkout the dashboard may have been built again.
      manifest = await readManifest();
      if (manifest) return send(call, INDEX_NAME, ASK_AGAIN);
      return answerNotice("Gatehouse is running", [
        "Its dashboard was not built. In the folder of Gatehouse, run <code>npm run dashboard</code>, which also says why " +
          "it could not be built, then reload this page.",
        "The API is not affected.",
      ]);
    },
    asset: async (call) => {
      manifest ??= await readManifest();
      const name = call.target.params.file ?? "";
      if (name === INDEX_NAME) return answerRefusal(call, NOT_FOUND);
      return send(call, name, KEEP_FOR_EVER);
    },
  };
}
