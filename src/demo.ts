// Demo mode: without a configured game API the simulator is the upstream, and there is a server and a key to try.
import { randomBytes } from "node:crypto";
import { DEFAULT_RIGHTS } from "./core/api-key.ts";
import type { Store } from "./core/ports/store.ts";
import { hashToken, mintToken } from "./core/token.ts";
import type { DataFolder } from "./data-folder.ts";

const SERVER_NAME = "Demo";
const SERVER_KEY = "demo-Town";
/** May send hints, so that the examples for bot developers work with it. */
const KEY_RIGHTS = { ...DEFAULT_RIGHTS, label: "demo", commands: [":h"], expiresAt: null };

/** The simulator is loaded here, so that it costs nothing with a real game API. */
export async function startDemoUpstream(): Promise<{ url: string; stop(): Promise<void> }> {
  const { startSimulator } = await import("./simulator/simulator.ts");
  // There is no real game API to protect, and a limit would only delay the answers.
  return startSimulator({ readLimit: 0 });
}

/**
 * The first start creates a server and a key; later starts find the key in the data folder. The setting `demo` is saved
 * last: without it the first start was interrupted and is completed, with it a revoked key stays revoked.
 */
export async function obtainDemoToken(
  store: Store,
  folder: DataFolder,
  now: number,
): Promise<string | undefined> {
  const stored = folder.findSecret("demo.key");
  if ((await store.settings.find("demo")) === "made") {
    const key = stored === undefined ? undefined : store.keys.find(hashToken(stored), now);
    return key && stored;
  }
  const { items } = await store.servers.list({ limit: 1 });
  // Without a demo key, the servers belong to the operator.
  if (items.length > 0 && stored === undefined) return undefined;
  const token = folder.obtainSecret("demo.key", () => mintToken(randomBytes));
  const existing = items.find(({ name }) => name === SERVER_NAME);
  const draft = { name: SERVER_NAME, community: null, serverKey: SERVER_KEY, isSimulated: true };
  const { serverId } = existing ?? (await store.servers.create(draft, now));
  const tokenHash = hashToken(token);
  if (!store.keys.find(tokenHash, now)) await store.keys.create({ ...KEY_RIGHTS, serverId, tokenHash }, now);
  await store.settings.save("demo", "made");
  return token;
}
