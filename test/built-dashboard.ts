// The dashboard as it is served: built by the first test that needs it, when it is missing or older than its inputs.
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { buildDashboard, DASHBOARD_FOLDER, DASHBOARD_INPUTS } from "../scripts/build-dashboard.ts";

export async function buildDashboardWhereOld(): Promise<void> {
  const manifest = join(DASHBOARD_FOLDER, "manifest.json");
  const builtAt = existsSync(manifest) ? statSync(manifest).mtimeMs : 0;
  if (DASHBOARD_INPUTS.some((path) => readLastChange(path) > builtAt)) await buildDashboard();
}

/** When a file, or anything inside a folder, was changed last. */
function readLastChange(path: string): number {
  const isFolder = statSync(path).isDirectory();
  const names = isFolder ? readdirSync(path, { recursive: true, encoding: "utf8" }) : [];
  return Math.max(...["", ...names].map((name) => statSync(join(path, name)).mtimeMs));
}
