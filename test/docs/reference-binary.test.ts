// The single-file binary has the reference in it, whatever folder it is started from.
import { afterEach, expect, test } from "bun:test";
import { join, resolve } from "node:path";
import { SCALAR_PATH } from "../../scripts/fetch-reference.ts";
import { serve } from "../run-gatehouse.ts";
import { cleanUp, makeFolder } from "../temporary.ts";

const BUILD = resolve(import.meta.dir, "../../scripts/build.ts");

afterEach(cleanUp);

test("the binary serves the document, the page and the program that shows it", async () => {
  const outdir = makeFolder();
  const build = Bun.spawn([process.execPath, "--no-env-file", BUILD, "--target", "host", "--outdir", outdir], {
    stdout: "ignore",
  });
  expect(await build.exited).toBe(0);

  const { url } = await serve({ cwd: makeFolder(), program: join(outdir, "gatehouse") });
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: object };
  expect(Object.keys(document.paths)).toContain("/v2/game/server");
  const page = await (await fetch(`${url}/docs`)).text();
  const script = /src="(\/docs\/scalar-[^"]+)"/.exec(page)?.[1];
  const program = await (await fetch(url + script)).bytes();
  expect(Buffer.from(program).equals(await Bun.file(SCALAR_PATH).bytes())).toBe(true);
});
