// For tests of commands: a gateway whose workers wait for the test's clock, and a fake game that answers commands as the test
// says and records them.
import type { GameServer } from "../../src/core/game-server.ts";
import type { KeyRights } from "../../src/core/keys/api-key.ts";
import { BASE_INFO, type FakeGameApi, startFakeGameApi } from "../fake-game-api.ts";
import { FakeClock, startGatehouse, type TestGatehouse, type TestOptions } from "../start-gatehouse.ts";
import { until } from "../until.ts";

export const COMMANDS = "/v2/game/server/command";

/** A fake clock that counts the workers that wait for it. */
export class WorkerClock extends FakeClock {
  #held: { until: number; resolve: () => void }[] = [];

  override readonly pause = (ms: number, wake: AbortSignal): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const held = { until: this.now + ms, resolve };
    this.#held.push(held);
    wake.addEventListener("abort", () => {
      this.#held = this.#held.filter((one) => one !== held);
      resolve();
    });
    return promise;
  };

  get held(): number {
    return this.#held.length;
  }

  override advance(ms: number): void {
    this.now += ms;
    const due = this.#held.filter(({ until: end }) => end <= this.now);
    this.#held = this.#held.filter(({ until: end }) => end > this.now);
    for (const { resolve } of due) resolve();
  }
}

export type CommandBody = {
  readonly command_id: string;
  readonly key_id: string;
  readonly key_label: string | null;
  readonly sent_by: { readonly kind: string; readonly id: string; readonly name: string };
  readonly command: string;
  readonly status: string;
  readonly position: number | null;
  readonly queued_at: number;
  readonly sent_at: number | null;
  readonly finished_at: number | null;
  readonly confirmed_at: number | null;
  readonly upstream_code: number | null;
  readonly upstream_message: string | null;
};
export type ReceiptBody = {
  readonly command_id: string;
  readonly status: "queued";
  readonly position: number;
  readonly queued_at: number;
};

/** A command that the game has received, with the server key of the call. */
export type GotCommand = { readonly text: string; readonly serverKey: string; readonly at: number };

export type Game = FakeGameApi & {
  readonly got: GotCommand[];
  /** The answer to a command; "Success" by default. */
  reply: (command: GotCommand) => Response | Promise<Response>;
  /** The answer to a read. */
  read: () => Response | Promise<Response>;
};

export const takes = () => Response.json({ message: "Success" });
export const refuses = (code: number, status = 400, extra: object = {}, headers = {}) => {
  return () => Response.json({ code, message: `code ${code}`, ...extra }, { status, headers });
};

export function startGame(clock: FakeClock, port = 0): Game {
  const got: GotCommand[] = [];
  const api = startFakeGameApi(async (request) => {
    if (request.method === "GET") return game.read();
    const { command: text } = (await request.json()) as { command: string };
    const command = { text, serverKey: request.headers.get("server-key") ?? "", at: clock.now };
    got.push(command);
    return game.reply(command);
  }, port);
  const game: Game = Object.assign(api, { got, reply: takes, read: () => Response.json(BASE_INFO) });
  return game;
}

/** A gateway in front of that game, with functions to wait for its workers. */
export async function startCommandGateway(
  options: TestOptions & {
    readonly game?: Game;
    readonly clock?: WorkerClock;
    readonly upstreamUrl?: string;
  } = {},
) {
  const clock = options.clock ?? new WorkerClock();
  const game = options.game ?? startGame(clock);
  const env = { GATEHOUSE_UPSTREAM_URL: options.upstreamUrl ?? game.url, ...options.env };
  const gatehouse = await startGatehouse({ ...options, clock, env });
  const { commands } = gatehouse.app.store;

  /** Waits until no command is being sent, and every server with waiting commands has a worker that waits for the clock. */
  async function settle(): Promise<void> {
    await until("the workers do not become idle", async () => {
      const sending = await commands.list({ status: "sending", limit: 1 });
      return sending.items.length === 0 && clock.held >= (await commands.listWaitingServers()).length;
    });
  }

  return {
    gatehouse,
    clock,
    game,
    settle,
    /** Moves the clock when all workers wait for it, then waits until they do so again. */
    async pass(ms: number): Promise<void> {
      await settle();
      clock.advance(ms);
      await settle();
    },
    async stop(): Promise<void> {
      await gatehouse.stop();
      if (!options.game) await game.stop();
    },
  };
}

export type CommandGateway = Awaited<ReturnType<typeof startCommandGateway>>;

let bots = 0;

/** A key with command rights, on its own server. */
export async function addBot(
  { gatehouse, game }: Pick<CommandGateway, "gatehouse" | "game">,
  rights: Partial<KeyRights> = {},
  server: { community?: string | null; serverKey?: string } = {},
) {
  const serverKey = server.serverKey ?? `bot-Server${++bots}`;
  const home = await gatehouse.addServer({ ...server, serverKey });
  const { keyId, token } = await gatehouse.addKey(home, { commands: ["*"], ...rights });
  return createBot({ gatehouse, game, home, serverKey, keyId, token });
}

export function createBot(parts: {
  gatehouse: TestGatehouse;
  game: Game;
  home: GameServer;
  serverKey: string;
  keyId: string;
  token: string;
}) {
  const { gatehouse, game, serverKey, token } = parts;
  const ask = (
    method: string,
    path: string,
    headers: Record<string, string> = {},
    body?: string | Uint8Array<ArrayBuffer>,
  ) => {
    return fetch(gatehouse.url + path, {
      method,
      headers: { Authorization: `Bearer ${token}`, ...headers },
      redirect: "manual",
      ...(body !== undefined && { body }),
    });
  };
  const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}, path = COMMANDS) => {
    return ask("POST", path, { "Content-Type": "application/json", ...headers }, body);
  };
  const submit = (command: string, headers: Record<string, string> = {}) => {
    return post(JSON.stringify({ command }), headers);
  };
  const show = async (id: string) => (await (await ask("GET", `${COMMANDS}/${id}`)).json()) as CommandBody;
  return {
    ...parts,
    serverId: parts.home.serverId,
    ask,
    post,
    submit,
    show,
    /** The receipt of a command that must be accepted. */
    async accept(command: string, headers: Record<string, string> = {}): Promise<ReceiptBody> {
      const response = await submit(command, headers);
      if (response.status !== 202) throw new Error(`${response.status}: ${await response.text()}`);
      return (await response.json()) as ReceiptBody;
    },
    async acceptAll(commands: readonly string[]): Promise<string[]> {
      const ids: string[] = [];
      for (const command of commands) ids.push((await this.accept(command)).command_id);
      return ids;
    },
    async statuses(ids: readonly string[]): Promise<string[]> {
      // Read from the store, because a request would count toward the key's limit.
      const found = await Promise.all(ids.map((id) => gatehouse.app.store.commands.find(id)));
      return found.map((command) => command?.status ?? "gone");
    },
    /** The commands that the game has received for this bot's server, in order. */
    got: () => game.got.filter((one) => one.serverKey === serverKey).map(({ text }) => text),
    async read(): Promise<Response> {
      return await gatehouse.get("/v2/game/server?CommandLogs=true", token);
    },
  };
}

export type Bot = Awaited<ReturnType<typeof addBot>>;
