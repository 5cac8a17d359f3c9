// Demo mode: without a configured game API the simulator is the upstream, and there is a server and a key to try.
import { randomBytes } from "node:crypto";
import { DAY_MS } from "./core/durations.ts";
import { StoreUnavailable } from "./core/errors.ts";
import type { GameServer } from "./core/game-server.ts";
import { DEFAULT_SETTINGS } from "./core/keys/key-settings.ts";
import { hashToken, mintToken } from "./core/keys/token.ts";
import type { KeyDetails } from "./core/ports/keys.ts";
import type { Store } from "./core/ports/store.ts";
import type { DataFolder } from "./instance/data-folder.ts";
import type { Simulator } from "./simulator/simulator.ts";

const SERVER_NAME = "Demo";
/** The key of the demo server. No key of the game API looks like it, so it also identifies the demo server. */
export const DEMO_SERVER_KEY = "demo-Town";
const KEY_FILE = "demo.key";
/** What the examples for bot developers send, and what a moderator needs to try the dashboard. */
const KEY_COMMANDS = [":h", ":pm", ":kick", ":jail"];
const KEY_RIGHTS = { ...DEFAULT_SETTINGS, label: "demo", commands: KEY_COMMANDS };
/** A setting: `made` once the first start with the simulator is complete. */
const DEMO = "demo";
/** A setting: `marked` once the demo server of an older version was searched for. */
const OLD_DEMO = "old-demo-server";
/** How long the former token works after a lost one was replaced. Instances on one Redis each have their own demo.key. */
const REPLACED_TOKEN_MS = 30 * DAY_MS;

export type DemoUpstream = Pick<Simulator, "url" | "publicKey" | "sendHooks" | "stop">;

/** The simulator is loaded here, so that it costs nothing with a real game API. */
export async function startDemoUpstream(): Promise<DemoUpstream> {
  const { startSimulator } = await import("./simulator/simulator.ts");
  // There is no real game API to protect, and a limit would only delay the answers.
  return startSimulator({ readLimit: 0 });
}

/**
 * Marks the demo server that an older version has made, which did not mark servers. All other servers of older versions
 * count as servers of a real game API.
 */
export async function markOldDemoServer({ servers, settings }: Store): Promise<void> {
  if ((await settings.find(OLD_DEMO)) === "marked") return;
  for (const { serverId, isSimulated } of [...servers.all()]) {
    if (!isSimulated && (await hasDemoKey(servers, serverId))) {
      await servers.update(serverId, { isSimulated: true });
    }
  }
  await settings.save(OLD_DEMO, "marked");
}

/**
 * The first start creates a server and a key; later starts find the token in the data folder, and replace it when it is lost
 * or does not fit the store. A key that was revoked and a server that was deleted stay so: the result is undefined then, and
 * also when the operator has servers and there never was a demo.
 */
export async function obtainDemoToken(store: Store, folder: DataFolder, now: number): Promise<string | undefined> {
  const stored = folder.findSecret(KEY_FILE);
  const key = stored === undefined ? undefined : await store.keys.find(hashToken(stored), now);
  const isUsable = key !== undefined && store.servers.find(key.serverId)?.isSimulated;
  const token = isUsable ? stored : await restoreDemo(store, folder, now);
  // Last: without it the first start was interrupted and is completed by the next one.
  if (token !== undefined) await store.settings.saveIfAbsent(DEMO, "made");
  return token;
}

async function restoreDemo(store: Store, folder: DataFolder, now: number): Promise<string | undefined> {
  const server = await findDemoServer(store);
  if (!server) {
    const isMade = (await store.settings.find(DEMO)) === "made";
    const hasServers = store.servers.all()[Symbol.iterator]().next().done !== true;
    if (isMade || hasServers) return undefined;
  }
  // The demo key is the first key of its server.
  const first = server && (await store.keys.list({ serverId: server.serverId, limit: 1 })).items[0];
  return first ? await replaceToken(store, folder, first, now) : await makeDemo(store, folder, server, now);
}

async function makeDemo(
  store: Store,
  folder: DataFolder,
  existing: GameServer | undefined,
  now: number,
): Promise<string> {
  const token = folder.obtainSecret(KEY_FILE, () => mintToken(randomBytes));
  const draft = { name: SERVER_NAME, community: null, serverKey: DEMO_SERVER_KEY, isSimulated: true };
  const { serverId } = existing ?? (await store.servers.create(draft, now));
  await store.keys.create({ ...KEY_RIGHTS, serverId, tokenHash: hashToken(token) }, now);
  return token;
}

async function replaceToken(
  { keys }: Store,
  folder: DataFolder,
  { keyId, revokedAt, expiresAt }: KeyDetails,
  now: number,
): Promise<string | undefined> {
  if (revokedAt !== null || (expiresAt !== null && expiresAt <= now)) return undefined;
  const token = mintToken(randomBytes);
  folder.replaceSecret(KEY_FILE, token);
  return (await keys.rotate(keyId, hashToken(token), now + REPLACED_TOKEN_MS, now)) ? token : undefined;
}

/** The oldest server of the simulator with the demo's server key. */
async function findDemoServer({ servers }: Store): Promise<GameServer | undefined> {
  const simulated = [...servers.all()].filter(({ isSimulated }) => isSimulated);
  for (const server of simulated.sort((a, b) => a.createdAt - b.createdAt)) {
    if (await hasDemoKey(servers, server.serverId)) return server;
  }
  return undefined;
}

async function hasDemoKey(servers: Store["servers"], serverId: string): Promise<boolean> {
  try {
    return (await servers.readServerKey(serverId)) === DEMO_SERVER_KEY;
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    // A key that cannot be decrypted is not the demo's; its own reads report it.
    return false;
  }
}
