// A checkout fetches the program that shows /docs: only the pinned file is accepted, and Gatehouse also starts without it.
import { afterEach, describe, expect, test } from "bun:test";
import { chmodSync, copyFileSync, cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fetchReference, type PinnedFile, SCALAR_PATH } from "../../scripts/fetch-reference.ts";
import { SCALAR_FILE } from "../../src/http/web/scalar-package.ts";
import { serve } from "../run-gatehouse.ts";
import { cleanUp, makeFolder } from "../temporary.ts";

const ROOT = resolve(import.meta.dir, "../..");
const COPIED = ["gatehouse", "package.json", "package-lock.json", "packages", "src", "scripts", "dist/dashboard"];

afterEach(cleanUp);

function makeArchive(program: string): Promise<Uint8Array<ArrayBuffer>> {
  const files = { "package/dist/program.js": program, "package/package.json": '{"license":"MIT"}' };
  return new Bun.Archive(files, { compress: "gzip" }).bytes();
}

function hash(content: string | Uint8Array): string {
  return `sha512-${new Bun.CryptoHasher("sha512").update(content).digest("base64")}`;
}

async function makePin(program: string): Promise<{ pin: PinnedFile; archive: Uint8Array<ArrayBuffer> }> {
  const archive = await makeArchive(program);
  const names = { name: "some-package", version: "1.2.3", path: "dist/program.js" };
  return { pin: { ...names, integrity: hash(archive), fileIntegrity: hash(program) }, archive };
}

describe("fetching", () => {
  test("takes the pinned file and what names its licence, and does not download again while the file is as it was", async () => {
    const { pin, archive } = await makePin("the program");
    const target = join(makeFolder(), "dist", "program.js");
    const asked: string[] = [];
    const download = async (specifier: string) => {
      asked.push(specifier);
      return archive;
    };
    await fetchReference({ pin, target, download });
    await fetchReference({ pin, target, download });
    expect(asked).toEqual(["some-package@1.2.3"]);
    expect(await Bun.file(target).text()).toBe("the program");
    expect(await Bun.file(`${target}.package.json`).json()).toEqual({ license: "MIT" });

    writeFileSync(target, "something else");
    await fetchReference({ pin, target, download });
    expect(asked).toHaveLength(2);
    expect(await Bun.file(target).text()).toBe("the program");
  });

  test("refuses a package with another hash, and leaves nothing of it", async () => {
    const { pin } = await makePin("the program");
    const folder = makeFolder();
    const download = () => makeArchive("another program");
    const fetching = fetchReference({ pin, target: join(folder, "program.js"), download });
    await expect(fetching).rejects.toThrow("another hash");
    expect(readdirSync(folder)).toEqual([]);
  });
});

/** A copy of the checkout without the program, and with this script as npm. */
function makeCheckout(npm: string): { program: string; root: string; env: Record<string, string> } {
  const root = makeFolder();
  for (const name of COPIED) {
    cpSync(join(ROOT, name), join(root, name), { recursive: true, preserveTimestamps: true });
  }
  symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"));
  const bin = makeFolder();
  writeFileSync(join(bin, "npm"), `#!/bin/sh\n${npm}\n`);
  chmodSync(join(bin, "npm"), 0o755);
  return { program: join(root, "gatehouse"), root, env: { PATH: `${bin}:${process.env.PATH}` } };
}

describe("a start without the program that shows /docs", () => {
  test("and without a network serves everything else; /docs says what to do, and works after that", async () => {
    const { program, root, env } = makeCheckout("echo 'npm error code ENOTFOUND' >&2; exit 1");
    const gatehouse = await serve({ cwd: makeFolder(), program, env });
    const { url } = gatehouse;
    expect(await gatehouse.waitForLine("is missing", "stderr")).toMatch(
      /the API reference at \/docs is missing: .*\(ENOTFOUND\); "npm run reference" tries again$/,
    );

    const missing = await fetch(`${url}/docs`);
    expect(missing.status).toBe(503);
    expect(missing.headers.get("cache-control")).toBe("no-store");
    expect(missing.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(await missing.text()).toContain("npm run reference");
    expect((await fetch(`${url}/docs/${SCALAR_FILE}`)).status).toBe(404);
    for (const path of ["/", "/readyz", "/openapi.json"]) expect((await fetch(url + path)).status).toBe(200);

    mkdirSync(join(root, "dist/reference"));
    await fetchReference();
    copyFileSync(SCALAR_PATH, join(root, "dist/reference", SCALAR_FILE));
    expect((await fetch(`${url}/docs`)).status).toBe(200);
    expect((await fetch(`${url}/docs/${SCALAR_FILE}`)).status).toBe(200);
  });

  test("does not wait for a download that hangs, and says in the end that it failed", async () => {
    const sign = join(makeFolder(), "go-on");
    const npm = `while [ ! -e '${sign}' ]; do sleep 0.1; done; echo 'npm error code ETIMEDOUT' >&2; exit 1`;
    const { program, env } = makeCheckout(npm);
    const gatehouse = await serve({ cwd: makeFolder(), program, env });
    expect((await fetch(`${gatehouse.url}/docs`)).status).toBe(503);
    expect(gatehouse.stderr).toContain("downloading the API reference for /docs in the background");
    expect(gatehouse.stderr).not.toContain("is missing");
    writeFileSync(sign, "");
    await gatehouse.waitForLine("the API reference at /docs is missing", "stderr");
  });

  test("serves nothing of a package that is not the pinned one", async () => {
    const forged = join(makeFolder(), "forged.tgz");
    await Bun.write(forged, await makeArchive("alert(1)"));
    const { program, root, env } = makeCheckout(`cp '${forged}' "$4/forged.tgz"`);
    const gatehouse = await serve({ cwd: makeFolder(), program, env });
    await gatehouse.waitForLine("has another hash than the pinned one", "stderr");
    expect((await fetch(`${gatehouse.url}/docs`)).status).toBe(503);
    expect(readdirSync(join(root, "dist"))).not.toContain("reference");
  });
});
