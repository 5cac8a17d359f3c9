// Serves the clients at /client/: a page with the lines that install them, filled with our own address, and the archives that
// scripts/build-clients.ts has made. Open to everybody.
import { ERRORS, refuse } from "../../core/errors.ts";
import { answerRefusal } from "../answers.ts";
import type { Call } from "../call.ts";
import { isMatchingEtag } from "../sending/conditional.ts";
import type { FindBuiltFile } from "./dashboard.ts";
import { answerNotice, PAGE_HEADERS, REVALIDATE } from "./page-headers.ts";

export const MANIFEST_NAME = "manifest.json";

export type ClientsManifest = {
  /** The name of the wheel, which has its version. */
  readonly wheel: string;
  readonly files: Readonly<Record<string, { readonly type: string; readonly etag: string }>>;
};

const NOT_FOUND = refuse(ERRORS.notFound);
const UNKNOWN_ADDRESS = "https://gatehouse.example";

export type ClientDeps = {
  readonly findFile: FindBuiltFile;
  /** Our address as the caller sees it; empty when that is not known. */
  readonly findAddress: (call: Call) => string;
};

export class ClientHandlers {
  constructor(private readonly deps: ClientDeps) {}

  async answerPage(call: Call): Promise<Response> {
    const manifest = await this.#readManifest();
    if (!manifest) return answerMissing();
    const page = writePage(this.deps.findAddress(call) || UNKNOWN_ADDRESS, manifest.wheel);
    const etag = `"${Bun.hash(page).toString(36)}"`;
    return answer(call, { type: "text/html; charset=utf-8", etag }, page);
  }

  async answerFile(call: Call): Promise<Response> {
    const manifest = await this.#readManifest();
    if (!manifest) return answerMissing();
    const name = call.target.params.file ?? "";
    const known = Object.hasOwn(manifest.files, name) ? manifest.files[name] : undefined;
    const file = known && this.deps.findFile(name);
    if (!known || !(await file?.exists())) return answerRefusal(call, NOT_FOUND);
    return answer(call, known, file);
  }

  /** Read for each request, because in a checkout the clients may have been built again. */
  async #readManifest(): Promise<ClientsManifest | undefined> {
    try {
      return (await this.deps.findFile(MANIFEST_NAME)?.json()) as ClientsManifest | undefined;
    } catch {
      // Never built, or being replaced right now.
      return undefined;
    }
  }
}

function answer(
  call: Call,
  { type, etag }: ClientsManifest["files"][string],
  body: Bun.BodyInit | undefined,
): Response {
  const headers = { ...PAGE_HEADERS, "Content-Type": type, "Cache-Control": REVALIDATE, ETag: etag };
  const isKnown = isMatchingEtag(call.request.headers.get("if-none-match"), etag);
  return isKnown ? new Response(null, { status: 304, headers }) : new Response(body, { headers });
}

function answerMissing(): Response {
  return answerNotice("The clients were not built", [
    "In the folder of Gatehouse, run <code>npm run build:client</code>, which also says why they could not be built.",
    "The API is not affected.",
  ]);
}

function writePage(address: string, wheel: string): string {
  const code = (text: string) => `<pre><code>${escapeHtml(text)}</code></pre>`;
  const webhook =
    '{"server_id": "srv_…", "label": "Discord", "url": "https://discord.com/api/webhooks/…", "format": "discord"}';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Clients of this Gatehouse</title>
<link rel="icon" href="data:,">
<style>
body { font: 16px/1.55 system-ui, sans-serif; max-width: 46rem; margin: 3rem auto; padding: 0 1rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 0.5rem; }
p { margin: 0.5rem 0; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; padding: 0.75rem 1rem; border: 1px solid color-mix(in srgb, currentColor 25%, transparent);
  border-radius: 0.5rem; background: color-mix(in srgb, currentColor 6%, transparent); }
code { font: 0.9em/1.5 ui-monospace, monospace; }
</style>
</head>
<body>
<main>
<h1>Write a bot for this Gatehouse</h1>
<p>You need an API key (<code>gth_…</code>), which belongs to one game server. Whoever runs this Gatehouse makes one for you.</p>
${code(`export GATEHOUSE_URL=${address}\nexport GATEHOUSE_KEY=gth_…`)}
<h2>JavaScript and TypeScript</h2>
${code(`npm install ${address}/client/gatehouse-client.tgz`)}
<h2>Python</h2>
<p>3.9 or newer; <code>AsyncGatehouse</code> also needs aiohttp, which discord.py brings along.</p>
${code(`pip install ${address}/client/${wheel}`)}
<p>Or one file to copy beside your bot:</p>
${code(`curl -O ${address}/client/gatehouse_client.py`)}
<h2>Without a client</h2>
${code(`curl -H "Authorization: Bearer $GATEHOUSE_KEY" "${address}/v2/game/server?Players=true"`)}
<h2>Discord, without a bot</h2>
<p>Gatehouse posts events to a channel by itself. In the dashboard under Webhooks, or with the master key:</p>
${code(`curl "${address}/admin/webhooks" \\\n  -H "Authorization: Bearer $GATEHOUSE_MASTER_KEY" \\\n  -H "Content-Type: application/json" \\\n  -d '${webhook}'`)}
<p>Everything that can be asked is in the <a href="/docs">reference</a>.</p>
</main>
</body>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
