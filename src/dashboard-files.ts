// Finds the files of the built dashboard: inside the binary, or in dist/dashboard of the checkout.
import { join } from "node:path";
import { EMBEDDED_DASHBOARD } from "./embedded-dashboard.ts";

const FOLDER = join(import.meta.dir, "../dist/dashboard");

/** The name comes from the manifest or is a constant, never from a request. */
export function findDashboardFile(name: string): Blob | undefined {
  const embedded: ReadonlyMap<string, string> | undefined = EMBEDDED_DASHBOARD;
  const path = embedded ? embedded.get(name) : join(FOLDER, name);
  return path === undefined ? undefined : Bun.file(path);
}
