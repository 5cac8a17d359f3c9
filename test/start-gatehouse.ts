// Starts the same app as `gatehouse serve` inside a test, with a temporary folder, a fake clock and the test's own upstream.
// Everything is closed and deleted afterwards.
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type App, startApp } from "../src/app.ts";
import type { GameServer } from "../src/core/game-server.ts";
import type { KeyRights } from "../src/core/keys/api-key.ts";
import { DEFAULT_SETTINGS } from "../src/core/keys/key-settings.ts";
import { hashToken, mintToken } from "../src/core/keys/token.ts";
import type { Archive } from "../src/core/ports/archive.ts";
import type { SleepUntilWoken } from "../src/core/ports/clock.ts";
import type { Post } from "../src/core/ports/post.ts";
import type { ServerDraft } from "../src/core/ports/servers.ts";
import { parseConfig } from "../src/instance/config.ts";
import type { MeasureDisk } from "../src/instance/machine-watch.ts";

export class FakeClock {
  now = 1_800_000_000_000;
  readonly read = () => this.now;
  /** Returns at once and moves the clock. */
  readonly sleep = async (ms: number) => {
    this.now += ms;
  };
  /** Waits until the test moves the clock far enough, or until `wake` is aborted. */
  readonly pause = (ms: number, wake: AbortSignal): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#pauses.push({ until: this.now + ms, resolve });
    wake.addEventListener("abort", () => resolve(), { once: true });
    return promise;
  };
  #pauses: { until: number; resolve: () => void }[] = [];

  advance(ms: number): void {
    this.now += ms;
    const due = this.#pauses.filter(({ until }) => until <= this.now);
    this.#pauses = this.#pauses.filter(({ until }) => until > this.now);
    for (const { resolve } of due) resolve();
  }
}

export type TestGatehouse = {
  readonly app: App;
  readonly url: string;
  readonly clock: FakeClock;
  readonly folder: string;
  readonly logLines: string[];
  readonly masterKey: string;
  /** A server for the upstream in use, unless `isSimulated` says otherwise. */
  addServer(draft?: Partial<ServerDraft>): Promise<GameServer>;
  addKey(
    server: GameServer,
    rights?: Partial<KeyRights & { label: string; expiresAt: number | null }>,
  ): Promise<TestKey>;
  get(path: string, token?: string, headers?: Record<string, string>): Promise<Response>;
  /** Sends a request with the master key. Strings and bytes are sent unchanged, anything else as JSON. */
  admin(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
  stop(): Promise<void>;
};

export type TestKey = { readonly keyId: string; readonly token: string };

export type TestOptions = {
  readonly env?: Readonly<Record<string, string>>;
  readonly folder?: string;
  readonly clock?: FakeClock;
  readonly measureDisk?: MeasureDisk;
  /** None by default. */
  readonly archive?: Archive;
  /** Sends to the receivers of webhooks; over the network by default. */
  readonly post?: Post;
  /** How readers of events wait; with real timers by default. */
  readonly waitForEvents?: SleepUntilWoken;
  /** How callers wait for the ends of their commands; with real timers by default. */
  readonly waitForCommands?: SleepUntilWoken;
  /** Whether the built-in simulator sends webhooks, by the machine's clock. No by default. */
  readonly sendsDemoHooks?: boolean;
};

export async function startGatehouse(options: TestOptions = {}): Promise<TestGatehouse> {
  const folder = options.folder ?? makeTestFolder();
  const clock = options.clock ?? new FakeClock();
  const logLines: string[] = [];
  const app = await startApp(
    parseConfig({
      GATEHOUSE_PORT: "0",
      GATEHOUSE_DATA_DIR: folder,
      GATEHOUSE_LOG_LEVEL: "warn",
      // Most tests count calls to the game API, or need no memory of what happened.
      GATEHOUSE_WATCH: "off",
      GATEHOUSE_ARCHIVE: "off",
      ...options.env,
    }),
    {
      clock: clock.read,
      sleep: clock.sleep,
      pause: clock.pause,
      burstQuietMs: 0,
      idleGraceMs: 0,
      sendsDemoHooks: options.sendsDemoHooks ?? false,
      writeLog: (line) => logLines.push(line),
      ...(options.measureDisk && { measureDisk: options.measureDisk }),
      ...(options.archive && { archive: options.archive }),
      ...(options.post && { post: options.post }),
      ...(options.waitForEvents && { waitForEvents: options.waitForEvents }),
      ...(options.waitForCommands && { waitForCommands: options.waitForCommands }),
    },
  );
  const masterKey = options.env?.GATEHOUSE_MASTER_KEY ?? readFileSync(join(folder, "master.key"), "utf8").trim();
  return {
    app,
    url: app.url,
    clock,
    folder,
    logLines,
    masterKey,
    addServer(draft = {}) {
      const isSimulated = options.env?.GATEHOUSE_UPSTREAM_URL === undefined;
      const whole = { name: "Test", community: null, serverKey: "test-Server", isSimulated, ...draft };
      return app.store.servers.create(whole, clock.now);
    },
    async addKey(server, rights = {}) {
      const token = mintToken(randomBytes);
      const draft = { ...DEFAULT_SETTINGS, label: "test", ...rights };
      const key = await app.store.keys.create(
        { ...draft, serverId: server.serverId, tokenHash: hashToken(token) },
        clock.now,
      );
      if (!key) throw new Error("the server is gone");
      return { keyId: key.keyId, token };
    },
    get(path, token, headers = {}) {
      const authorization = token === undefined ? {} : { Authorization: `Bearer ${token}` };
      return fetch(app.url + path, { headers: { ...authorization, ...headers }, redirect: "manual" });
    },
    admin(method, path, body, headers = {}) {
      const isRaw = typeof body === "string" || body instanceof Uint8Array;
      return fetch(app.url + path, {
        method,
        headers: {
          Authorization: `Bearer ${masterKey}`,
          ...(body !== undefined && { "Content-Type": "application/json" }),
          ...headers,
        },
        ...(body !== undefined && { body: isRaw ? (body as Bun.BodyInit) : JSON.stringify(body) }),
        redirect: "manual",
      });
    },
    async stop() {
      await app.stop();
      if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

export function makeTestFolder(): string {
  return mkdtempSync(join(tmpdir(), "gatehouse-test-"));
}
