// The stage of a soak: the simulated game API, Gatehouse and the receiver of its webhooks, with servers and keys.
import { type Listening, serve } from "../run-gatehouse.ts";
import { makeFolder, undoLater } from "../temporary.ts";
import { WebhookReceiver } from "../webhook-receiver.ts";

const MASTER_KEY = "soak-master-key-0123456789abcdef";
const SERVERS = 8;
const PLAYERS = 40;
/** A server with forty players has about this many times the events of a quiet one. */
const SPEED = 5;
/** Webhooks for the first servers only, as in the field. */
const WEBHOOKS = 3;
/** Keys that are made at the same time. */
const BATCH = 10;
/** A status page is public under this name. */
export const STATUS_SLUG = "soak";

export type SoakKey = { readonly token: string; readonly facadeKey: string; readonly keyId: string };

export type SoakStage = {
  readonly gatehouse: Listening;
  /** The data folder. */
  readonly folder: string;
  readonly masterKey: string;
  readonly serverIds: readonly string[];
  readonly webhookIds: readonly string[];
  /** Take turns, so that each stays below its limit. */
  readonly keys: readonly SoakKey[];
  /** Has one section only, and asks for more than it may. */
  readonly narrowKey: SoakKey;
  /** Asks more often than it may. */
  readonly greedyKey: SoakKey;
  /** For the streams that stay open: one for each server. */
  readonly streamKeys: readonly SoakKey[];
  readonly receiver: WebhookReceiver;
};

export type SoakTown = { readonly speed: number; readonly eventsMax?: number };

export async function setSoakStage(
  seed: number,
  keyCount: number,
  { speed, eventsMax }: SoakTown = { speed: SPEED },
): Promise<SoakStage> {
  // Without a limit of reads, every refusal of the game API is a fault.
  const town = ["--seed", String(seed), "--players", String(PLAYERS), "--speed", String(speed)];
  const simulator = await serve({ cwd: makeFolder() }, [...["simulate", "--port", "0", "--read-limit", "0"], ...town]);
  const folder = makeFolder();
  const gatehouse = await serve({
    cwd: folder,
    env: {
      GATEHOUSE_UPSTREAM_URL: simulator.url,
      GATEHOUSE_MASTER_KEY: MASTER_KEY,
      GATEHOUSE_WATCH: "on",
      GATEHOUSE_WEBHOOKS_PRIVATE: "allow",
      ...(eventsMax !== undefined && { GATEHOUSE_EVENTS_MAX: String(eventsMax) }),
    },
  });
  const receiver = await WebhookReceiver.start();
  undoLater(() => receiver.stop());

  const create = async (path: string, body: object) => {
    const answer = await fetch(gatehouse.url + path, {
      method: "POST",
      headers: { Authorization: `Bearer ${MASTER_KEY}`, "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${await answer.text()}`);
    // biome-ignore lint/suspicious/noExplicitAny: each path has its own answer
    return (await answer.json()) as any;
  };
  const serverIds: string[] = [];
  for (let count = 0; count < SERVERS; count++) {
    const draft = { name: `Town ${count}`, server_key: `soak-Town${count}` };
    const isPublic = count === 0 && { public_status: { slug: STATUS_SLUG } };
    serverIds.push((await create("/admin/servers", { ...draft, ...isPublic })).server_id);
  }
  const makeKey = async (at: number, rights: object = {}): Promise<SoakKey> => {
    const draft = { server_id: serverIds[at % SERVERS], label: `soak ${at}`, commands: ["*"], ...rights };
    const { token, facade_key, key_id } = await create("/admin/keys", draft);
    return { token, facadeKey: facade_key, keyId: key_id };
  };
  const keys: SoakKey[] = [];
  while (keys.length < keyCount) {
    const batch = Math.min(BATCH, keyCount - keys.length);
    keys.push(...(await Promise.all(Array.from({ length: batch }, (_, i) => makeKey(keys.length + i)))));
  }
  const webhookIds: string[] = [];
  for (const server_id of serverIds.slice(0, WEBHOOKS)) {
    const draft = { server_id, label: "soak", url: receiver.url, format: "standard" };
    webhookIds.push((await create("/admin/webhooks", draft)).webhook_id);
  }
  return {
    gatehouse,
    folder,
    masterKey: MASTER_KEY,
    serverIds,
    webhookIds,
    keys,
    narrowKey: await makeKey(0, { sections: ["Players"] }),
    greedyKey: await makeKey(0),
    streamKeys: await Promise.all(serverIds.map((_, at) => makeKey(at))),
    receiver,
  };
}
