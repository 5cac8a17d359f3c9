// Imports point one way: core <- gateway <- http, core <- store, upstream and simulator. The app and the files at the root of
// src put them together. The client's package is imported by the programs that use Gatehouse from outside. Any other import
// fails here, and so does an import cycle in any folder, or a file other than config that reads the environment.
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";

const ROOT = join(import.meta.dir, "..");
const SRC = join(ROOT, "src");
const CLIENT = join(ROOT, "packages/client/src");
/** The folders with code of ours. */
const FOLDERS = ["src", "packages", "bench", "scripts", "test"];

/** The folders that each folder may import from, besides itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  gateway: ["core"],
  http: ["core", "gateway"],
  database: ["core"],
  shared: ["core"],
  upstream: ["core"],
  "webhooks-out": ["core"],
  simulator: ["core"],
  dashboard: ["core"],
  "reading-thread": ["core", "database", "gateway", "upstream", "root"],
  app: [
    "core",
    "database",
    "gateway",
    "http",
    "shared",
    "upstream",
    "webhooks-out",
    "reading-thread",
    "instance",
    "root",
  ],
  instance: ["core", "shared", "database"],
  maintenance: ["core", "database", "instance"],
  doctor: ["core", "shared", "database", "upstream", "instance", "root"],
  cli: ["core", "simulator", "doctor", "maintenance", "instance", "root"],
  root: ["core", "gateway", "http", "shared", "database", "reading-thread", "simulator", "instance", "cli", "app"],
};

/** The folders of the dashboard that each of them may import from, besides itself and the files at the dashboard's root. */
const DASHBOARD_MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  locales: [],
  api: [],
  state: ["api"],
  parts: ["api", "state"],
  views: ["api", "state", "parts", "locales"],
  "sign-in": ["api", "state", "parts", "locales"],
  frame: ["api", "state", "parts", "views", "locales"],
};

/** Callers of Gatehouse: they use the client's parsers and types. */
const USES_CLIENT: ReadonlySet<string> = new Set(["cli", "dashboard"]);

/** What core may use of the runtime: pure computation, without files, network, clock and randomness. */
const CORE_BUILTINS: ReadonlySet<string> = new Set(["node:net", "typebox"]);
const OUTSIDE_WORLD =
  /\b(?:Date\.now|new Date\(\)|Math\.random|performance\.now|process\.[a-z]|setTimeout|setInterval|fetch\(|Bun\.(?!SHA256\b|CryptoHasher\b|hash\b)\w)/;

/** The environment, also when it is taken out of its object. */
const ENVIRONMENT = /\b(?:process|Bun|import\.meta)\.env\b|\{[^{}]*\benv\b[^{}]*\} = (?:process|Bun)\b/;

/** The files of core whose values run in a browser; of the others, the dashboard may import types. */
const BROWSER_SAFE: ReadonlySet<string> = new Set(
  [
    "alerts/alert-words",
    "alerts/rules",
    "keys/api-key",
    "commands/command",
    "durations",
    "errors",
    "fold-case",
    "events/event-types",
    "game-server",
    "history/command-kinds",
    "history/counts",
    "history/history",
    "history/history-csv",
    "history/sessions",
    "keys/key-state",
    "keys/rights",
    "maps/map-image",
    "notice-codes",
    "people/person",
    "people/role",
    "people/who",
    "players/vocabulary",
    "ports/pages",
    "keys/rate-limit",
    "sections",
    "readings/upstream-codes",
    "readings/watch-reasons",
    "webhooks/webhook",
  ].map((name) => `core/${name}.ts`),
);

/** The imports of values, without those of types. */
const VALUE_IMPORT = /^import (?!type\b)[^;]*?from "([^"]+)";/gm;

const IMPORT = /\b(?:from|import)\s*\(?\s*"([^"\s]+)"/g;

function folderOf(file: string): string {
  const [first = ""] = relative(SRC, file).split("/");
  return first.endsWith(".ts") ? "root" : first;
}

function isInClient(path: string): boolean {
  return path.startsWith(`${CLIENT}/`);
}

function findWrongImports(file: string, text: string): string[] {
  const folder = folderOf(file);
  const allowed = MAY_IMPORT[folder];
  if (!allowed) return [`${folder} is a folder that has no rule here`];
  const wrong: string[] = [];
  for (const [, from = ""] of text.matchAll(IMPORT)) {
    if (!from.startsWith(".")) {
      if (folder === "core" && !CORE_BUILTINS.has(from)) wrong.push(from);
      continue;
    }
    const path = normalize(join(dirname(file), from));
    const target = folderOf(path);
    const mayImport = isInClient(path)
      ? USES_CLIENT.has(folder)
      : !path.startsWith(SRC) || target === folder || allowed.includes(target);
    if (!mayImport) wrong.push(from);
  }
  return wrong;
}

/** The last cell of a row in ARCHITECTURE.md: "nothing", a list, or "all but" a list. */
function parseImports(room: string, cell: string): string[] {
  const names = (cell.replace(/:.*|\(.*?\)/g, "").match(/[\w/-]+/g) ?? []).filter((name) => name !== "nothing");
  if (names[0] !== "all") return names.sort();
  return Object.keys(MAY_IMPORT)
    .filter((folder) => folder !== room && !names.includes(folder))
    .sort();
}

/** The folder of the dashboard that a file is in; undefined for the files at its root and outside. */
function dashboardFolderOf(file: string): string | undefined {
  const [first, ...rest] = relative(join(SRC, "dashboard"), file).split("/");
  return rest.length === 0 || first === ".." ? undefined : first;
}

function findWrongDashboardImports(file: string, text: string): string[] {
  const folder = dashboardFolderOf(file);
  if (folder === undefined) return [];
  const froms = Array.from(text.matchAll(IMPORT), ([, from = ""]) => from).filter((from) => from.startsWith("."));
  return froms.filter((from) => {
    const target = dashboardFolderOf(normalize(join(dirname(file), from)));
    return target !== undefined && target !== folder && !DASHBOARD_MAY_IMPORT[folder]?.includes(target);
  });
}

/** The files of src that a file imports values from. */
function listValueImports(file: string): string[] {
  const names = Array.from(readFileSync(file, "utf8").matchAll(VALUE_IMPORT), ([, from = ""]) => from);
  return names.filter((from) => from.startsWith(".")).map((from) => relative(SRC, join(dirname(file), from)));
}

/** The files that a file imports from, types included; all paths are relative to the root. */
function listImports(name: string): string[] {
  const froms = Array.from(readFileSync(join(ROOT, name), "utf8").matchAll(IMPORT), ([, from = ""]) => from);
  return froms.filter((from) => from.startsWith(".")).map((from) => join(dirname(name), from));
}

/** The import cycles, each once. */
function findCircles(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  const circles: string[][] = [];
  const done = new Set<string>();
  const path: string[] = [];
  function visit(file: string): void {
    const start = path.indexOf(file);
    if (start >= 0) circles.push([...path.slice(start), file]);
    if (start >= 0 || done.has(file)) return;
    path.push(file);
    for (const target of imports.get(file) ?? []) visit(target);
    path.pop();
    done.add(file);
  }
  for (const file of imports.keys()) visit(file);
  return circles;
}

const files = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  .filter((name) => /\.tsx?$/.test(name) && !name.endsWith(".test.ts"))
  .map((name) => join(SRC, name));

describe("the folders of src", () => {
  test("every import points toward core", () => {
    expect(files.length).toBeGreaterThan(20);
    const wrong = files.flatMap((file) => {
      return findWrongImports(file, readFileSync(file, "utf8")).map((from) => `${relative(SRC, file)} -> ${from}`);
    });
    expect(wrong).toEqual([]);
  });

  test("core has no clock, no randomness and no I/O", () => {
    const guilty = files.filter((file) => folderOf(file) === "core" && OUTSIDE_WORLD.test(readFileSync(file, "utf8")));
    expect(guilty.map((file) => relative(SRC, file))).toEqual([]);
  });

  test("only config reads the environment", () => {
    const readers = files.filter((file) => ENVIRONMENT.test(readFileSync(file, "utf8")));
    expect(readers.map((file) => relative(SRC, file))).toEqual(["instance/config.ts"]);
    for (const text of ["process.env.TERM", "Bun.env.TERM", "const { env, stdout } = process;"]) {
      expect(text).toMatch(ENVIRONMENT);
    }
  });

  test("the dashboard's bundle has only its own files, the client and pure values of core", () => {
    const wrong = files
      .filter((file) => folderOf(file) === "dashboard")
      .flatMap((file) => {
        return listValueImports(file).filter((target) => {
          return !target.startsWith("dashboard/") && !BROWSER_SAFE.has(target) && !isInClient(join(SRC, target));
        });
      });
    expect(wrong).toEqual([]);
  });

  test("inside the dashboard, views import parts, parts import state, and state imports the API, never the other way", () => {
    const wrong = files.flatMap((file) => {
      const froms = findWrongDashboardImports(file, readFileSync(file, "utf8"));
      return froms.map((from) => `${relative(SRC, file)} -> ${from}`);
    });
    expect(wrong).toEqual([]);
    const part = join(SRC, "dashboard/parts/table/example.tsx");
    const text = 'import { x } from "../../views/map/markers.ts"; import { y } from "../../state/route.ts";';
    expect(findWrongDashboardImports(part, text)).toEqual(["../../views/map/markers.ts"]);
  });

  test("no folder of the dashboard has a file of its own name beside it", () => {
    const folders = new Set(files.map((file) => dirname(file)));
    const twins = files.filter((file) => folderOf(file) === "dashboard" && folders.has(file.replace(/\.tsx?$/, "")));
    expect(twins.map((file) => relative(SRC, file))).toEqual([]);
  });

  test("the wire types, and what runs in a browser, need nothing that only a server has", () => {
    const shared = files.filter((file) => {
      const name = relative(SRC, file);
      return name.startsWith("core/wire/") || BROWSER_SAFE.has(name);
    });
    expect(shared.length).toBeGreaterThan(BROWSER_SAFE.size + 5);
    const wrong = shared.flatMap((file) => {
      return listValueImports(file).filter((target) => {
        return !target.startsWith("core/wire/") && !BROWSER_SAFE.has(target);
      });
    });
    expect(wrong).toEqual([]);
  });

  test("each file that runs in a browser is there", () => {
    expect([...BROWSER_SAFE].filter((name) => !files.includes(join(SRC, name)))).toEqual([]);
  });

  test("ARCHITECTURE.md names every room, and what it may import", () => {
    const text = readFileSync(join(ROOT, "ARCHITECTURE.md"), "utf8");
    const rows = Array.from(text.matchAll(/^\| (`src\/.*?) \| .* \| (.*?) \|$/gm));
    const written = rows.flatMap(([, rooms = "", imports = ""]) => {
      return Array.from(rooms.matchAll(/`src\/([\w*.-]+)`/g), ([, room = ""]) => {
        return [room === "*.ts" ? "root" : room, parseImports(room === "*.ts" ? "root" : room, imports)] as const;
      });
    });
    const usesClient = (folder: string) => (USES_CLIENT.has(folder) ? ["packages/client"] : []);
    const allowed = Object.entries(MAY_IMPORT).map(([folder, from]) => [
      folder,
      [...from, ...usesClient(folder)].sort(),
    ]);
    expect(Object.fromEntries(written)).toEqual(Object.fromEntries(allowed));
    const folders = ["core", "gateway", "http"].flatMap((room) =>
      readdirSync(join(SRC, room), { withFileTypes: true }),
    );
    const unnamed = folders.filter((entry) => entry.isDirectory() && !text.includes(`\`${entry.name}\``));
    expect(unnamed.map(({ name }) => name)).toEqual([]);
  });

  test("an import in the wrong direction is found", () => {
    const file = join(SRC, "core/example.ts");
    expect(findWrongImports(file, 'import { x } from "../database/sealer.ts";')).toEqual(["../database/sealer.ts"]);
    expect(findWrongImports(file, 'import { readFileSync } from "node:fs";')).toEqual(["node:fs"]);
    const store = join(SRC, "database/store/example.ts");
    expect(findWrongImports(store, 'await import("../../upstream/client.ts")')).toEqual(["../../upstream/client.ts"]);
    const client = 'import { SseParser } from "../../../packages/client/src/sse-parser.ts";';
    expect(findWrongImports(store, client)).toHaveLength(1);
    expect(findWrongImports(join(SRC, "dashboard/api/example.ts"), client)).toEqual([]);
    expect(findWrongImports(store, 'import type { Store } from "../../core/ports/store.ts";')).toEqual([]);
  });
});

describe("import cycles", () => {
  test("there are none in any folder, not even of types", () => {
    const sources = Array.from(new Bun.Glob(`{${FOLDERS.join(",")}}/**/*.{ts,tsx,mjs}`).scanSync(ROOT));
    const own = sources.filter((name) => !/(?:^|\/)(?:node_modules|dist)\//.test(name));
    for (const folder of FOLDERS) expect(own.some((name) => name.startsWith(`${folder}/`))).toBe(true);
    const imports = new Map(own.map((name) => [name, listImports(name)]));
    expect(findCircles(imports)).toEqual([]);
  });

  test("a cycle of three files is found", () => {
    const imports = new Map([
      ["a.ts", ["b.ts", "d.ts"]],
      ["b.ts", ["c.ts"]],
      ["c.ts", ["a.ts"]],
      ["d.ts", []],
    ]);
    expect(findCircles(imports)).toEqual([["a.ts", "b.ts", "c.ts", "a.ts"]]);
  });
});

describe("the client's package", () => {
  const own = readdirSync(CLIENT).filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"));

  test("imports only its own files, so that it has no dependency and runs everywhere", () => {
    expect(own.length).toBeGreaterThan(10);
    const wrong = own.flatMap((name) => findForeignImports(readFileSync(join(CLIENT, name), "utf8")));
    expect(wrong).toEqual([]);
  });

  test("an import from outside is found", () => {
    expect(findForeignImports('import { x } from "../../../src/core/errors.ts";')).toHaveLength(1);
    expect(findForeignImports('import { x } from "node:crypto"; import { y } from "./pause.ts";')).toEqual([
      "node:crypto",
    ]);
  });
});

function findForeignImports(text: string): string[] {
  const targets = Array.from(text.matchAll(IMPORT), ([, from = ""]) => from);
  return targets.filter((from) => !/^\.\/[\w-]+\.ts$/.test(from));
}
