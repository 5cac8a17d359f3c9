// Takes the pictures in docs/images of the dashboard as it is now, with the simulator behind it. The machine needs fonts for
// every name (Debian: fonts-noto-core, fonts-noto-cjk, fonts-noto-color-emoji); look at the pictures afterwards.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { chromium } from "playwright-core";

const ROOT = resolve(import.meta.dir, "..");
const PICTURES = { dashboard: "live", map: "map" };
/** Long enough for the first events, and for streets on the map. */
const PLAY_MS = 90_000;
const VIEWPORT = { width: 1280, height: 800 };

const built = Bun.spawnSync(["npm", "run", "--silent", "dashboard"], { cwd: ROOT, stderr: "inherit" });
if (!built.success) throw new Error("the dashboard cannot be built");
const folder = mkdtempSync(join(tmpdir(), "gatehouse-pictures-"));
const env = { ...process.env, GATEHOUSE_PORT: "0", GATEHOUSE_DATA_DIR: folder };
const gatehouse = Bun.spawn([join(ROOT, "gatehouse"), "serve"], { cwd: folder, env, stderr: "inherit" });
const executablePath = ["chromium", "chromium-browser", "google-chrome"].flatMap((name) => Bun.which(name) ?? [])[0];
const browser = await chromium.launch({ executablePath: executablePath ?? "", args: ["--no-sandbox"] });
try {
  const url = await readAddress(gatehouse.stdout);
  await Bun.sleep(PLAY_MS);
  const key = readFileSync(join(folder, "demo.key"), "utf8").trim();
  const context = await browser.newContext({ viewport: VIEWPORT, locale: "en-GB", reducedMotion: "reduce" });
  await context.addInitScript(`sessionStorage.setItem("gatehouse.key", ${JSON.stringify(key)})`);
  for (const [name, view] of Object.entries(PICTURES)) {
    const page = await context.newPage();
    await page.goto(`${url}/#/${view}`);
    await page.locator("#content h1").waitFor();
    await Bun.sleep(2_000);
    await page.screenshot({ path: join(ROOT, "docs/images", `${name}.png`) });
  }
} finally {
  await browser.close();
  gatehouse.kill();
  await gatehouse.exited;
  rmSync(folder, { recursive: true, force: true });
}

async function readAddress(stdout: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  for await (const chunk of stdout) {
    text += Buffer.from(chunk).toString();
    const address = /listening on (https?:\/\/\S+)\n/.exec(text)?.[1];
    if (address !== undefined) return address;
  }
  throw new Error(`Gatehouse did not start:\n${text}`);
}
