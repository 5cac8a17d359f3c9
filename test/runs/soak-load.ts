// The kinds of requests of a day, each with its share and the answers that it may get.
import { SECTIONS } from "../../src/core/sections.ts";
import { openSocket, writeRequest } from "../raw-socket.ts";
import { SocketReader, SseReader } from "../stream-reader.ts";
import { type SoakKey, type SoakStage, STATUS_SLUG } from "./soak-stage.ts";

/** Longer than every timeout of Gatehouse. */
const ANSWER_DEADLINE_MS = 30_000;
const ABORT_MAX_MS = 30;
const SLOW_MAX_MS = 3_000;
const SHORT_STREAM_MAX_MS = 8_000;
const ETAGS_MAX = 5_000;
const READ = "/v2/game/server";
const ALL_SECTIONS = SECTIONS.map((section) => `${section}=true`).join("&");
const HISTORY = ["players", "sessions", "playtime", "staff", "peaks"];
const FACADE = ["/v2/server", "/v2/server?Players=true&Vehicles=true", "/erlc/v1/server/players"];
const OPEN_PATHS = ["/healthz", "/readyz", "/openapi.json", "/", "/docs"];

/** Of a thousand requests. */
const SHARES = {
  read: 540,
  "new connection": 40,
  facade: 80,
  events: 50,
  "long poll": 5,
  history: 40,
  map: 15,
  "own key": 20,
  command: 4,
  "list commands": 15,
  admin: 30,
  open: 20,
  status: 2,
  refused: 80,
  greedy: 12,
  aborted: 20,
  "half a request": 5,
  "slow reader": 5,
  "short stream": 4,
  "short socket": 4,
} as const;
type Kind = keyof typeof SHARES;
const KINDS = Object.entries(SHARES) as readonly (readonly [Kind, number])[];
const SHARES_TOTAL = KINDS.reduce((sum, [, share]) => sum + share, 0);

type Ask = {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly keepalive?: boolean;
};

export class SoakLoad {
  readonly #stage: SoakStage;
  readonly #random: () => number;
  readonly #etags = new Map<string, string>();
  #turn = 0;
  #commands = 0;

  constructor(stage: SoakStage, random: () => number) {
    this.#stage = stage;
    this.#random = random;
  }

  /** Commands that were accepted. */
  get commands(): number {
    return this.#commands;
  }

  /** Sends one request, and throws when it is not answered as it must be. */
  async sendOne(): Promise<void> {
    const kind = this.#choose();
    try {
      await this.#send(kind);
    } catch (error) {
      throw new Error(`${kind}: ${error instanceof Error ? error.message : error}`);
    }
  }

  #choose(): Kind {
    let left = this.#random() * SHARES_TOTAL;
    for (const [kind, share] of KINDS) {
      left -= share;
      if (left < 0) return kind;
    }
    return "read";
  }

  async #send(kind: Kind): Promise<void> {
    const { serverIds, keys } = this.#stage;
    const key = keys[this.#turn++ % keys.length] as SoakKey;
    const headers = bearer(key.token);
    switch (kind) {
      case "read":
        return await this.#read(key);
      case "new connection":
        return await this.#ask([200], `${READ}?${ALL_SECTIONS}`, { headers, keepalive: false });
      case "facade":
        return await this.#ask([200], this.#pick(FACADE), { headers: { "server-key": key.facadeKey } });
      case "events":
        return await this.#ask([200], `${READ}/events?limit=${this.#pick([20, 100, 500])}`, { headers });
      case "long poll":
        return await this.#ask([200], `${READ}/events?after=now&wait=3`, { headers });
      case "history":
        return await this.#ask([200], `${READ}/history/${this.#pick(HISTORY)}`, { headers });
      case "map":
        return await this.#ask([200], `${READ}/map`, { headers });
      case "own key":
        return await this.#ask([200], "/v2/game/key", { headers });
      case "command":
        return await this.#command(headers);
      case "list commands":
        return await this.#ask([200], `${READ}/command?limit=20`, { headers });
      case "admin":
        return await this.#ask([200], this.#adminPath(this.#pick(serverIds), key.keyId), {
          headers: bearer(this.#stage.masterKey),
        });
      case "open":
        return await this.#ask([200], this.#pick(OPEN_PATHS));
      case "status":
        // All visitors of this run come from one address, which has a limit.
        return await this.#ask([200, 429], `/status/${STATUS_SLUG}.json`);
      case "refused":
        return await this.#refused(headers);
      case "greedy":
        return await this.#ask([200, 429], READ, { headers: bearer(this.#stage.greedyKey.token) });
      case "aborted":
        return await this.#abort(headers);
      case "half a request":
        return await this.#sendHalf();
      case "slow reader":
        return await this.#readSlowly(key);
      case "short stream":
        return await this.#openStream(headers);
      case "short socket":
        return await this.#openSocket(headers);
    }
  }

  #pick<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.#random() * choices.length)] as T;
  }

  /** Takes the whole answer. */
  async #ask(expected: readonly number[], path: string, ask: Ask = {}): Promise<void> {
    await this.#fetch(expected, path, ask).then((answer) => answer.arrayBuffer());
  }

  async #fetch(expected: readonly number[], path: string, ask: Ask = {}): Promise<Response> {
    const signal = AbortSignal.timeout(ANSWER_DEADLINE_MS);
    const answer = await fetch(this.#stage.gatehouse.url + path, { ...ask, signal, redirect: "manual" });
    if (!expected.includes(answer.status))
      throw new Error(`${path} was answered with ${answer.status}: ${(await answer.text()).slice(0, 200)}`);
    return answer;
  }

  /** Asks for some of the sections; half of the readers say what they have. */
  async #read({ token }: SoakKey): Promise<void> {
    const sections = SECTIONS.filter(() => this.#random() < 0.3).map((section) => `${section}=true`);
    const path = `${READ}?${this.#random() < 0.2 ? ALL_SECTIONS : sections.join("&")}`;
    const place = token + path;
    const etag = this.#random() < 0.5 ? this.#etags.get(place) : undefined;
    const headers = { ...bearer(token), ...(etag !== undefined && { "If-None-Match": etag }) };
    const answer = await this.#fetch(etag === undefined ? [200] : [200, 304], path, { headers });
    await answer.arrayBuffer();
    if (this.#etags.size >= ETAGS_MAX) this.#etags.clear();
    this.#etags.set(place, answer.headers.get("etag") ?? "");
  }

  async #command(headers: Record<string, string>): Promise<void> {
    const body = JSON.stringify({ command: `:h soak ${this.#commands}` });
    const ask = { method: "POST", headers: { ...headers, "Content-Type": "application/json" }, body };
    // At a high rate the queue of a server may be full.
    const answer = await this.#fetch([202, 429], `${READ}/command`, ask);
    await answer.arrayBuffer();
    if (answer.status === 202) this.#commands++;
  }

  #adminPath(serverId: string, keyId: string): string {
    return this.#pick([
      "/admin/servers",
      `/admin/servers/${serverId}`,
      `/admin/servers/${serverId}/info`,
      `/admin/servers/${serverId}/events`,
      `/admin/servers/${serverId}/history/players`,
      "/admin/keys",
      `/admin/keys/${keyId}`,
      "/admin/blocks",
      "/admin/commands",
      "/admin/upstream",
      "/admin/audit",
      `/admin/webhooks/${this.#pick(this.#stage.webhookIds)}/deliveries`,
      "/metrics",
    ]);
  }

  async #refused(headers: Record<string, string>): Promise<void> {
    const turn = Math.floor(this.#random() * 6);
    if (turn === 0) await this.#ask([401], READ);
    else if (turn === 1) await this.#ask([401], READ, { headers: bearer(`gth_${"x".repeat(36)}`) });
    else if (turn === 2) await this.#ask([404], "/v2/game/nothing", { headers });
    else if (turn === 3) await this.#ask([405], READ, { method: "PUT", headers });
    else if (turn === 4) await this.#ask([500], "/v1/server", { headers });
    // A key that asks for more than it may: within its limit at first, then beyond it.
    else await this.#ask([403, 429], `${READ}?Staff=true`, { headers: bearer(this.#stage.narrowKey.token) });
  }

  /** Gives up soon after asking; any end is right. */
  async #abort(headers: Record<string, string>): Promise<void> {
    const signal = AbortSignal.timeout(Math.ceil(this.#random() * ABORT_MAX_MS));
    const path = this.#pick([`${READ}?${ALL_SECTIONS}`, `${READ}/history/sessions`, `${READ}/events?wait=5`]);
    await fetch(this.#stage.gatehouse.url + path, { headers, signal, keepalive: false })
      .then((answer) => answer.arrayBuffer())
      .catch(() => {});
  }

  async #sendHalf(): Promise<void> {
    const socket = await openSocket({ port: this.#stage.gatehouse.port });
    socket.write("GET /v2/game/server HTTP/1.1\r\nHost: soak\r\nAuthoriz");
    await Bun.sleep(this.#random() * SLOW_MAX_MS);
    socket.destroy();
  }

  async #readSlowly({ token }: SoakKey): Promise<void> {
    const socket = await openSocket({ port: this.#stage.gatehouse.port });
    try {
      socket.pause();
      socket.write(writeRequest(`${READ}?${ALL_SECTIONS}`, [`Authorization: Bearer ${token}`]));
      await Bun.sleep(this.#random() * SLOW_MAX_MS);
      socket.resume();
      const answer = await socket.readAnswer({ deadlineMs: ANSWER_DEADLINE_MS });
      if (answer?.status !== 200) throw new Error(`was answered with ${answer?.status}`);
    } finally {
      socket.destroy();
    }
  }

  async #openStream(headers: Record<string, string>): Promise<void> {
    const given = await fetch(`${this.#stage.gatehouse.url}${READ}/events/stream`, { headers });
    if (given.status !== 200) throw new Error(`was answered with ${given.status}`);
    const reader = new SseReader(given);
    if ((await reader.next())?.event !== "hello") throw new Error("did not begin with hello");
    await Bun.sleep(this.#random() * SHORT_STREAM_MAX_MS);
    await reader.cancel();
  }

  async #openSocket(headers: Record<string, string>): Promise<void> {
    const reader = new SocketReader(`${this.#stage.gatehouse.url}${READ}/events/socket`, headers);
    await reader.opened;
    if ((await reader.next())?.op !== "hello") throw new Error("did not begin with hello");
    await Bun.sleep(this.#random() * SHORT_STREAM_MAX_MS);
    reader.socket.close();
    await reader.closed;
  }
}

function bearer(token: string): Record<string, string> {
  return { Authorization: `Bearer ${token}` };
}
