// The dashboard's files through HTTP: who gets which, with which headers, and what is said when there are none.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Cors } from "../../src/http/cors.ts";
import { DashboardHandlers } from "../../src/http/dashboard.ts";
import { Edge } from "../../src/http/edge.ts";
import { createTargetFinder } from "../../src/http/target.ts";
import { startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";

let gatehouse: TestGatehouse;

beforeAll(async () => {
  gatehouse = await startGatehouse();
});
afterAll(() => gatehouse.stop());

const ask = (path: string, options: RequestInit = {}) => fetch(gatehouse.url + path, options);

async function listAssets(): Promise<string[]> {
  const page = await (await ask("/")).text();
  return Array.from(page.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g), ([, path = ""]) => path);
}

/** The static imports of a script. */
function listImports(text: string): string[] {
  return Array.from(text.matchAll(/(?:\bfrom|\bimport)\s*"([^"]+)"/g), ([, path = ""]) => path);
}

describe("the dashboard", () => {
  test("is at / for anybody, under a policy that allows no inline script and nobody but us", async () => {
    const response = await ask("/");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response.headers.get("cache-control")).toBe("no-cache");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("referrer-policy")).toBe("no-referrer");
    const policy = response.headers.get("content-security-policy") ?? "";
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "connect-src 'self'",
      "frame-ancestors 'none'",
    ])
      expect(policy.split("; ")).toContain(rule);
    expect(await response.text()).not.toMatch(
      /<script(?![^>]*\bsrc=)|https?:\/\/(?!www\.w3\.org\/2000\/svg)/,
    );
  });

  test("is not sent again to a browser that has it", async () => {
    const etag = (await ask("/")).headers.get("etag") ?? "";
    const again = await ask("/", { headers: { "If-None-Match": etag } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
  });

  test("names files that are there, may be kept for ever, and are the same packed and unpacked", async () => {
    const assets = await listAssets();
    expect(assets.length).toBeGreaterThanOrEqual(2);
    for (const path of assets) {
      const packed = await ask(path, { headers: { "Accept-Encoding": "gzip" } });
      expect(packed.status).toBe(200);
      expect(packed.headers.get("cache-control")).toContain("immutable");
      const plain = await ask(path, { headers: { "Accept-Encoding": "identity" } });
      expect(plain.headers.get("content-encoding")).toBeNull();
      expect(await plain.text()).toBe(await packed.text());
    }
  });

  test("answers HEAD, refuses other methods, and serves no file that the build has not listed", async () => {
    expect((await ask("/", { method: "HEAD" })).status).toBe(200);
    expect((await ask("/", { method: "POST" })).status).toBe(405);
    for (const path of ["index.html", "manifest.json", "nothing.js", "__proto__", "..%2Fmanifest.json"])
      expect((await ask(`/assets/${path}`)).status).toBe(404);
  });

  test("weighs less than 350 kB before the first view", async () => {
    let bytes = 0;
    for (const path of await listAssets()) {
      const response = await ask(path, {
        headers: { "Accept-Encoding": "gzip" },
        decompress: false,
      } as RequestInit);
      bytes += (await response.bytes()).length;
    }
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThan(350_000);
  });

  test("starts with every file that a view imports, so that only the view's own file can fail later", async () => {
    const assets = await listAssets();
    const [, entry = ""] = /<script type="module" src="([^"]+)"/.exec(await (await ask("/")).text()) ?? [];
    const main = await (await ask(entry)).text();
    const scripts = assets.filter((path) => path.endsWith(".js") && path !== entry);
    expect(new Set(listImports(main))).toEqual(new Set(scripts));
    const views = Array.from(main.matchAll(/\bimportLate\("([^"]+)"\)/g), ([, path = ""]) => path);
    expect(views.length).toBeGreaterThanOrEqual(2);
    for (const path of views) {
      const imports = listImports(await (await ask(path)).text());
      expect(imports.length).toBeGreaterThan(0);
      expect(imports.filter((each) => !assets.includes(each))).toEqual([]);
    }
  });

  test("that was not built is a plain page that says so, under the same policy", async () => {
    const dashboard = new DashboardHandlers((name) => Bun.file(join("/nowhere", name)));
    const edge = new Edge({
      findTarget: createTargetFinder([{ path: "/", GET: (call) => dashboard.answerPage(call) }]),
      cors: new Cors([]),
      clock: () => 0,
      log: gatehouse.app.log,
      isDraining: () => false,
      observe: () => {},
    });
    const response = await edge.handle(new Request("http://x/"), {
      requestIP: () => null,
      timeout: () => {},
    });
    expect(response.status).toBe(503);
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(await response.text()).toContain("npm run dashboard");
  });
});
