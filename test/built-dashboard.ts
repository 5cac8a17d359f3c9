// The dashboard as it is served: built by the first test that asks for it, where it is missing or older than its sources.
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { buildDashboard, DASHBOARD_FOLDER } from "../scripts/build-dashboard.ts";

const SOURCE = join(import.meta.dir, "../src/dashboard");

export async function buildDashboardWhereOld(): Promise<void> {
  const manifest = join(DASHBOARD_FOLDER, "manifest.json");
  const builtAt = existsSync(manifest) ? statSync(manifest).mtimeMs : 0;
  const changedAt = readdirSync(SOURCE, { recursive: true, encoding: "utf8" }).map(
    (name) => statSync(join(SOURCE, name)).mtimeMs,
  );
  if (Math.max(...changedAt) > builtAt) await buildDashboard();
}
