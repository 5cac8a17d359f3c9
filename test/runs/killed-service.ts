// One process of Gatehouse after the other on one data folder: each is killed, and clients wait for the next.
import type { ListCommands } from "../command-ends.ts";
import type { CommandBody } from "../command-judge.ts";
import type { ToldEvent } from "../faults/ledger-judge.ts";
import { type GatehouseProcess, run, serve, stop } from "../run-gatehouse.ts";

const EVENTS_PER_PAGE = 500;
const MASTER_KEY = "torture-master-key-0123456789abcdef";

/** A game server and the keys of those who send it commands. */
export type Home = { readonly serverId: string; readonly town: string; readonly tokens: readonly string[] };
/** Until so long after its start, or after it listens and `work` is done. */
type Life =
  | { readonly startMs: number }
  | { readonly lifeMs: number; readonly tellAfterMs?: number; readonly work?: () => Promise<void> };
type List<T> = { readonly items: readonly T[]; readonly next: string | null };

export class Service {
  readonly #folder: string;
  readonly #env: Readonly<Record<string, string>>;
  #child: GatehouseProcess | undefined;
  #isStopped = false;
  #up = Promise.withResolvers<string | undefined>();

  constructor(folder: string, upstreamUrl: string, env: Readonly<Record<string, string>> = {}) {
    this.#folder = folder;
    this.#env = { ...envOf(folder, upstreamUrl), ...env };
  }

  /** The address, when the process listens; undefined when no process is started any more. */
  address(): Promise<string | undefined> {
    return this.#up.promise;
  }

  /** Clients learn the address so much later. */
  async start(env: Readonly<Record<string, string>> = {}, tellAfterMs = 0): Promise<void> {
    const child = run(["serve"], { cwd: this.#folder, env: { ...this.#env, ...env } });
    this.#child = child;
    const line = await child.waitForLine("listening on");
    const up = this.#up;
    setTimeout(() => up.resolve(/listening on (\S+)$/.exec(line)?.[1]), tellAfterMs);
  }

  /** Starts a process and kills it. */
  async live(life: Life): Promise<void> {
    const started = this.start({}, "startMs" in life ? 0 : life.tellAfterMs);
    // A process that is killed early never prints its address.
    started.catch(() => {});
    if ("startMs" in life) await Bun.sleep(life.startMs);
    else {
      await started;
      await life.work?.();
      await Bun.sleep(life.lifeMs);
    }
    await this.end("SIGKILL");
    await started.catch(() => {});
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    if (this.#child) await stop(this.#child, signal);
    this.#up = replace(this.#up);
  }

  /** Ends the process in order, so that nothing waits to be written, and starts another. */
  async restart(env: Readonly<Record<string, string>> = {}): Promise<void> {
    await this.end("SIGTERM");
    await this.start(env);
  }

  readonly list: ListCommands = async (serverId, isEnough) => {
    const found: CommandBody[] = [];
    let cursor = "";
    for (;;) {
      const path = `/commands?server_id=${serverId}&limit=200${cursor}`;
      const { items, next } = await this.ask<List<CommandBody>>("GET", path);
      found.push(...items);
      if (next === null || isEnough(items)) return found;
      cursor = `&cursor=${next}`;
    }
  };

  async isDrained(): Promise<boolean> {
    for (const status of ["queued", "sending"]) {
      const { items } = await this.ask<List<unknown>>("GET", `/commands?limit=1&status=${status}`);
      if (items.length > 0) return false;
    }
    return true;
  }

  async readEvents(serverId: string): Promise<ToldEvent[]> {
    const events: ToldEvent[] = [];
    let after = "earliest";
    for (;;) {
      const path = `/servers/${serverId}/events?after=${after}&limit=${EVENTS_PER_PAGE}`;
      const page = await this.ask<{ items: ToldEvent[]; next: string; has_more: boolean }>("GET", path);
      events.push(...page.items);
      if (!page.has_more) return events;
      after = page.next;
    }
  }

  /** Sends a request of an operator; throws when it is refused. */
  async ask<T>(method: string, path: string, body?: unknown): Promise<T> {
    return askAdmin(`${await this.address()}`, method, path, body);
  }

  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    await this.end("SIGTERM");
    this.#up.resolve(undefined);
  }
}

function envOf(folder: string, upstreamUrl: string): Record<string, string> {
  return {
    GATEHOUSE_PORT: "0",
    GATEHOUSE_DATA_DIR: folder,
    GATEHOUSE_UPSTREAM_URL: upstreamUrl,
    GATEHOUSE_COMMAND_INTERVAL_MS: "1",
    GATEHOUSE_MASTER_KEY: MASTER_KEY,
    GATEHOUSE_LOG_LEVEL: "error",
    GATEHOUSE_WATCH: "off",
    GATEHOUSE_ARCHIVE: "off",
  };
}

async function askAdmin<T>(url: string, method: string, path: string, body?: unknown): Promise<T> {
  const headers = { Authorization: `Bearer ${MASTER_KEY}`, "Content-Type": "application/json" };
  const response = await fetch(`${url}/admin${path}`, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

/** Callers that wait for the old promise then wait for the new one. */
function replace<T>(old: PromiseWithResolvers<T>): PromiseWithResolvers<T> {
  const next = Promise.withResolvers<T>();
  old.resolve(next.promise);
  return next;
}

/** Makes servers and keys in a data folder. */
export async function makeHomes(
  folder: string,
  upstreamUrl: string,
  { servers = 3, keysPerServer = 1 } = {},
): Promise<Home[]> {
  const child = await serve({ cwd: folder, env: envOf(folder, upstreamUrl) });
  const homes: Home[] = [];
  for (let index = 0; index < servers; index++) {
    const town = `Torture${index}`;
    const server = { name: town, server_key: `key-${town}` };
    const { server_id } = await askAdmin<{ server_id: string }>(child.url, "POST", "/servers", server);
    const tokens: string[] = [];
    for (let key = 0; key < keysPerServer; key++) {
      const draft = { server_id, label: `client ${key}`, commands: ["*"] };
      tokens.push((await askAdmin<{ token: string }>(child.url, "POST", "/keys", draft)).token);
    }
    homes.push({ serverId: server_id, town, tokens });
  }
  await stop(child);
  return homes;
}
