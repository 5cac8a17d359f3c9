// npm run dev: Gatehouse in front of its simulator, and the dashboard from its sources: a saved file is in the browser
// at once. Arguments go to `gatehouse serve`.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "..");
const FOLDER = join(ROOT, "dist/dev");
const PORT = 8081;
const TAGS_PLACE = "<!-- files -->";

/** The page with its source in the place of the built files. */
function writePage(): string {
  const page = readFileSync(join(ROOT, "src/dashboard/index.html"), "utf8");
  const tag = `<script type="module" src="../../src/dashboard/main.tsx"></script>`;
  const file = join(FOLDER, "index.html");
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(file, page.replace(TAGS_PLACE, tag));
  return file;
}

/** Starts the gateway on a free port, with data of its own, and prints what it prints. Returns its address. */
async function startGateway(): Promise<string> {
  const command = ["serve", "--port", "0", "--data-dir", join(FOLDER, "data"), ...process.argv.slice(2)];
  const gateway = Bun.spawn([join(ROOT, "gatehouse"), ...command], {
    env: { ...process.env, GATEHOUSE_UPSTREAM_URL: "simulator" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  void gateway.exited.then((exitCode) => process.exit(exitCode));
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => gateway.kill(signal));
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of gateway.stdout) {
    process.stdout.write(chunk);
    text += decoder.decode(chunk, { stream: true });
    const [, url] = /^gatehouse listening on (\S+)$/m.exec(text) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error("the gateway ended before it listened");
}

const { default: page } = (await import(writePage())) as { default: Bun.HTMLBundle };
const base = await startGateway();
const server = Bun.serve({
  port: PORT,
  hostname: "127.0.0.1",
  development: { hmr: true, console: true },
  // Streams of events are silent for longer.
  idleTimeout: 0,
  routes: { "/": page },
  /** Everything but the page is the gateway's. The name of the host stays, because it must fit the page's origin. */
  fetch: (request) => {
    const { pathname, search } = new URL(request.url);
    return fetch(base + pathname + search, {
      method: request.method,
      headers: request.headers,
      body: request.body,
      redirect: "manual",
      decompress: false,
      signal: request.signal,
    });
  },
});
process.stdout.write(`dashboard from its sources: ${server.url}\n`);
