// Builds the dashboard for the first test that needs it, if it is missing or older than its sources.
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { buildDashboard, DASHBOARD_FOLDER, DASHBOARD_INPUTS } from "../scripts/build-dashboard.ts";

export async function buildOutdatedDashboard(): Promise<void> {
  const manifest = join(DASHBOARD_FOLDER, "manifest.json");
  const builtAt = existsSync(manifest) ? statSync(manifest).mtimeMs : 0;
  if (DASHBOARD_INPUTS.some((path) => readLastChange(path) > builtAt)) await buildDashboard();
}

/** The time of the last change to a file, or to anything inside a folder. */
function readLastChange(path: string): number {
  const isFolder = statSync(path).isDirectory();
  const names = isFolder ? readdirSync(path, { recursive: true, encoding: "utf8" }) : [];
  return Math.max(...["", ...names].map((name) => statSync(join(path, name)).mtimeMs));
}
