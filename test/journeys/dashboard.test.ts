// The dashboard's files over HTTP: their headers, and the answer when they are missing.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { nameByContent } from "../../scripts/build-dashboard.ts";
import { Edge } from "../../src/http/edge.ts";
import { createTargetFinder } from "../../src/http/requests/target.ts";
import { Cors } from "../../src/http/web/cors.ts";
import { DashboardHandlers, MANIFEST_NAME } from "../../src/http/web/dashboard.ts";
import { buildOutdatedDashboard } from "../built-dashboard.ts";
import { startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";

let gatehouse: TestGatehouse;

beforeAll(async () => {
  await buildOutdatedDashboard();
  gatehouse = await startGatehouse();
});
afterAll(() => gatehouse.stop());

function openEdge(dashboard: DashboardHandlers): Edge {
  return new Edge({
    findTarget: createTargetFinder([
      { path: "/", GET: (call) => dashboard.answerPage(call) },
      { path: "/assets/:file", GET: (call) => dashboard.answerAsset(call) },
    ]),
    cors: new Cors([]),
    clock: () => 0,
    log: gatehouse.app.log,
    isDraining: () => false,
    isSecure: false,
    observe: () => {},
  });
}

const ask = (path: string, options: RequestInit = {}) => fetch(gatehouse.url + path, options);

async function listAssets(): Promise<string[]> {
  const page = await (await ask("/")).text();
  return Array.from(page.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g), ([, path = ""]) => path);
}

/** The static imports of a script. */
function listImports(text: string): string[] {
  return Array.from(text.matchAll(/(?:\bfrom|\bimport)\s*"([^"]+)"/g), ([, path = ""]) => path);
}

describe("the name of a built file", () => {
  const TEXTS = new Map([
    ["main-1.js", 'import "/assets/chunk-2.js"; importLazy("/assets/view-3.js")'],
    ["chunk-2.js", "export {}"],
    ["view-3.js", 'import "/assets/chunk-2.js"'],
    ["style-4.css", "body {}"],
  ]);

  test("changes when the build rewrites the file, or one that it refers to, and not otherwise", () => {
    const before = nameByContent(TEXTS);
    const after = nameByContent(new Map([...TEXTS, ["view-3.js", "rewritten"]]));
    const changed = [...TEXTS.keys()].filter((key) => before.get(key)?.name !== after.get(key)?.name);
    expect(changed).toEqual(["main-1.js", "view-3.js"]);
  });

  test("is the one that other files refer to it by", () => {
    const named = nameByContent(TEXTS);
    const [chunk, view] = ["chunk-2.js", "view-3.js"].map((key) => named.get(key)?.name);
    expect(named.get("main-1.js")?.text).toBe(`import "/assets/${chunk}"; importLazy("/assets/${view}")`);
  });

  test("does not exist for files that refer to each other in a circle, nor for two with the same content", () => {
    const circle = new Map([
      ["a-1.js", 'import "/assets/b-2.js"'],
      ["b-2.js", 'import "/assets/a-1.js"'],
    ]);
    expect(() => nameByContent(circle)).toThrow("circle");
    const twins = new Map([
      ["a-1.js", "export {}"],
      ["a-2.js", "export {}"],
    ]);
    expect(() => nameByContent(twins)).toThrow("two files");
  });
});

describe("the dashboard", () => {
  test("is at / without a key, with a policy that allows no inline scripts and no other origin", async () => {
    const response = await ask("/");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response.headers.get("cache-control")).toBe("no-cache");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("referrer-policy")).toBe("no-referrer");
    const policy = response.headers.get("content-security-policy") ?? "";
    for (const rule of ["default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"])
      expect(policy.split("; ")).toContain(rule);
    expect(await response.text()).not.toMatch(/<script(?![^>]*\bsrc=)|https?:\/\/(?!www\.w3\.org\/2000\/svg)/);
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

  test("names every file by the hash of its content, because a file that is kept for ever must never change", async () => {
    const assets = await listAssets();
    const scripts = assets.filter((path) => path.endsWith(".js"));
    const texts = await Promise.all(scripts.map(async (path) => (await ask(path)).text()));
    const mentioned = texts.join("").matchAll(/"(\/assets\/[^"]+)"/g);
    const all = new Set([...assets, ...Array.from(mentioned, ([, path = ""]) => path)]);
    expect(all.size).toBeGreaterThan(assets.length);
    for (const path of all) {
      const hash = new Bun.CryptoHasher("sha256").update(await (await ask(path)).bytes()).digest("hex");
      expect(path).toContain(`-${hash.slice(0, 16)}.`);
    }
  });

  test("answers HEAD, refuses other methods, and serves no file that the build has not listed", async () => {
    expect((await ask("/", { method: "HEAD" })).status).toBe(200);
    expect((await ask("/", { method: "POST" })).status).toBe(405);
    for (const path of ["index.html", "manifest.json", "nothing.js", "__proto__", "..%2Fmanifest.json"])
      expect((await ask(`/assets/${path}`)).status).toBe(404);
  });

  test("weighs less than 285 kB in at most nine files before the first view", async () => {
    let bytes = 0;
    const assets = await listAssets();
    expect(assets.length).toBeLessThanOrEqual(9);
    for (const path of assets) {
      const response = await ask(path, {
        headers: { "Accept-Encoding": "gzip" },
        decompress: false,
      } as RequestInit);
      bytes += (await response.bytes()).length;
    }
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThan(285_000);
  });

  test("starts with every file that a view imports, so that only the view's own file can fail later", async () => {
    const assets = await listAssets();
    const [, entry = ""] = /<script type="module" src="([^"]+)"/.exec(await (await ask("/")).text()) ?? [];
    const main = await (await ask(entry)).text();
    const scripts = assets.filter((path) => path.endsWith(".js") && path !== entry);
    expect(new Set(listImports(main))).toEqual(new Set(scripts));
    const views = Array.from(main.matchAll(/\bimportLazy\("([^"]+)"\)/g), ([, path = ""]) => path);
    expect(views.length).toBeGreaterThanOrEqual(2);
    for (const path of views) {
      const imports = listImports(await (await ask(path)).text());
      expect(imports.length).toBeGreaterThan(0);
      expect(imports.filter((each) => !assets.includes(each))).toEqual([]);
    }
  });

  describe("for clients without gzip", () => {
    const ASSET = "main-1.js";
    const CONNECTION = { requestIP: () => null, timeout: () => {} };

    /** A built dashboard of one file whose readings are counted. */
    function openFiles() {
      const files = { reads: 0, etag: '"1"', text: "first", isBroken: false };
      const find = (name: string) => {
        if (name === MANIFEST_NAME) {
          const manifest = { files: { [ASSET]: { type: "text/javascript", etag: files.etag } } };
          return { json: async () => manifest } as unknown as Bun.BunFile;
        }
        return {
          async bytes() {
            files.reads++;
            if (files.isBroken) throw new Error("no file descriptor is left");
            return Bun.gzipSync(files.text);
          },
        } as unknown as Bun.BunFile;
      };
      const edge = openEdge(new DashboardHandlers(find));
      const ask = async (path: string, headers = {}) =>
        await edge.handle(new Request(`http://x${path}`, { headers }), CONNECTION);
      return { files, ask };
    }

    test("a file is read and unpacked once, however many ask for it", async () => {
      const { files, ask } = openFiles();
      const answers = await Promise.all(Array.from({ length: 10 }, () => ask(`/assets/${ASSET}`)));
      const again = await ask(`/assets/${ASSET}`, { "Accept-Encoding": "br" });
      for (const answer of [...answers, again]) {
        expect([answer.status, await answer.text()]).toEqual([200, "first"]);
        expect(answer.headers.get("content-type")).toBe("text/javascript");
      }
      expect(files.reads).toBe(1);
    });

    test("a file that was built again is unpacked again", async () => {
      const { files, ask } = openFiles();
      expect(await (await ask(`/assets/${ASSET}`)).text()).toBe("first");
      Object.assign(files, { etag: '"2"', text: "second" });
      // Opening the page reads the manifest again.
      await ask("/");
      expect(await (await ask(`/assets/${ASSET}`)).text()).toBe("second");
    });

    test("a file that could not be read is tried again", async () => {
      const { files, ask } = openFiles();
      files.isBroken = true;
      expect((await ask(`/assets/${ASSET}`)).status).toBe(404);
      files.isBroken = false;
      expect(await (await ask(`/assets/${ASSET}`)).text()).toBe("first");
    });
  });

  test("that was not built is a plain page that says so, with the same policy", async () => {
    const dashboard = new DashboardHandlers((name) => Bun.file(join("/nowhere", name)));
    const edge = openEdge(dashboard);
    const response = await edge.handle(new Request("http://x/"), {
      requestIP: () => null,
      timeout: () => {},
    });
    expect(response.status).toBe(503);
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(await response.text()).toContain("npm run dashboard");
  });
});
