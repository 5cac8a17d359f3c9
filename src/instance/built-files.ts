// Finds the files that scripts/ puts into dist/: inside the binary, or in dist/ of the checkout.
import { join } from "node:path";
import { EMBEDDED_FILES } from "./embedded-files.ts";

const FOLDER = join(import.meta.dir, "../../dist");

/** `path` is relative to dist/. It must not contain text from a request, only constants and names of the manifest. */
export function findBuiltFile(path: string): Bun.BunFile | undefined {
  const embedded: ReadonlyMap<string, string> | undefined = EMBEDDED_FILES;
  const place = embedded ? embedded.get(path) : join(FOLDER, path);
  return place === undefined ? undefined : Bun.file(place);
}
