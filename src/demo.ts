// The demo: without a configured game API the simulator is the upstream, and there is a server and a key to try.
import { randomBytes } from "node:crypto";
import { DEFAULT_RIGHTS } from "./core/api-key.ts";
import type { Store } from "./core/ports/store.ts";
import { hashToken, mintToken } from "./core/token.ts";
import type { DataFolder } from "./data-folder.ts";

const SERVER_NAME = "Demo";
const SERVER_KEY = "demo-Town";

/** Loaded only when needed: with a real game API the simulator costs nothing. */
export async function startDemoUpstream(): Promise<{ url: string; stop(): Promise<void> }> {
  const { startSimulator } = await import("./simulator/simulator.ts");
  // No rate limit: it would protect nobody and only slow the demo down.
  return startSimulator({ readLimit: 0 });
}

/**
 * The first start creates a server and a key; later ones find the key in the data folder. The setting "demo" is saved last:
 * without it an interrupted first start is completed, with it a key that was revoked stays revoked.
 */
export async function obtainDemoToken(
  store: Store,
  folder: DataFolder,
  now: number,
): Promise<string | undefined> {
  const kept = folder.findSecret("demo.key");
  if ((await store.settings.find("demo")) === "made") {
    const key = kept === undefined ? undefined : store.keys.find(hashToken(kept), now);
    return key && kept;
  }
  const { items } = await store.servers.list({ limit: 1 });
  // There are servers but no demo key: an operator created them.
  if (items.length > 0 && kept === undefined) return undefined;
  const token = folder.obtainSecret("demo.key", () => mintToken(randomBytes));
  const unfinished = items.find(({ name }) => name === SERVER_NAME);
  const draft = { name: SERVER_NAME, community: null, serverKey: SERVER_KEY };
  const { serverId } = unfinished ?? (await store.servers.create(draft, now));
  const tokenHash = hashToken(token);
  const hasKey = store.keys.find(tokenHash, now) !== undefined;
  if (!hasKey)
    await store.keys.create({ ...DEFAULT_RIGHTS, serverId, label: "demo", expiresAt: null, tokenHash }, now);
  await store.settings.save("demo", "made");
  return token;
}
