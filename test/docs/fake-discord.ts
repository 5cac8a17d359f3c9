// A fake Discord: the part of its HTTP API and of its gateway that a bot with slash commands needs.
import type { ServerWebSocket } from "bun";
import { until } from "../process/run-gatehouse.ts";

const APPLICATION_ID = "1000000000000000001";
export const CHANNEL_ID = "1000000000000000002";

type Registered = { readonly name: string };

export type FakeDiscord = {
  /** The base URL, which the bot gets instead of Discord's. */
  readonly api: string;
  /** The names of the commands that the bot has registered. */
  readonly registered: string[];
  /** What is in the channel, oldest first. A nonce that was used before makes no message, as with Discord. */
  readonly posted: PostedMessage[];
  /** While it is set, messages are taken and the bot gets no answer. */
  isSilent: boolean;
  /** While it is set, the bot is told to come back later. */
  isAway: boolean;
  /** Sends a command as if a user had typed it. Returns the bot's final answer. */
  type(name: string, options?: Readonly<Record<string, string>>): Promise<FakeAnswer>;
  stop(): Promise<void>;
};

export type PostedMessage = FakeAnswer & { readonly nonce: string };

export type FakeAnswer = {
  readonly content: string;
  readonly allowed_mentions?: { readonly parse: string[] };
};

export function startFakeDiscord(): FakeDiscord {
  const registered: string[] = [];
  const answers = new Map<string, FakeAnswer>();
  const posted: PostedMessage[] = [];
  let socket: ServerWebSocket<unknown> | undefined;
  let sequence = 0;

  const dispatch = (event: string, data: unknown) => {
    socket?.send(JSON.stringify({ op: 0, t: event, s: ++sequence, d: data }));
  };

  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request, self) {
      const pathname = decodeURIComponent(new URL(request.url).pathname);
      if (request.headers.get("upgrade") === "websocket") {
        return self.upgrade(request, { data: undefined }) ? undefined : new Response(null, { status: 400 });
      }
      if (pathname.endsWith("/gateway/bot")) {
        const session_start_limit = { total: 1000, remaining: 1000, reset_after: 0, max_concurrency: 1 };
        return Response.json({ url: `ws://127.0.0.1:${self.port}`, shards: 1, session_start_limit });
      }
      if (pathname.endsWith(`/applications/${APPLICATION_ID}/commands`)) {
        const commands = (await request.json()) as Registered[];
        registered.splice(0, registered.length, ...commands.map(({ name }) => name));
        return Response.json(commands.map((command, index) => ({ id: String(index + 1), ...command })));
      }
      if (/\/channels\/\d+\/messages$/.test(pathname)) {
        if (fake.isAway) return Response.json({ message: "away" }, { status: 503 });
        const message = (await request.json()) as PostedMessage & { enforce_nonce?: boolean };
        const isRepeated = message.enforce_nonce && posted.some(({ nonce }) => nonce === message.nonce);
        if (!isRepeated) posted.push(message);
        if (fake.isSilent) await new Promise<never>(() => {});
        return Response.json({ id: "10", channel_id: CHANNEL_ID, type: 0, ...message });
      }
      if (pathname.endsWith("/callback")) return new Response(null, { status: 204 });
      const token = /\/webhooks\/\d+\/(\w+)\/messages\/@original$/.exec(pathname)?.[1];
      if (token !== undefined) {
        const answer = (await request.json()) as FakeAnswer;
        answers.set(token, answer);
        return Response.json({ id: "9", channel_id: "8", type: 0, author: someone("7", "bot"), ...answer });
      }
      return Response.json({ code: 0, message: `nobody expected ${pathname}` }, { status: 404 });
    },
    websocket: {
      open(opened) {
        socket = opened;
        opened.send(JSON.stringify({ op: 10, d: { heartbeat_interval: 45_000 } }));
      },
      message(from, text) {
        const { op } = JSON.parse(String(text)) as { op: number };
        if (op === 1) from.send(JSON.stringify({ op: 11 }));
        if (op === 2) {
          dispatch("READY", {
            v: 10,
            user: { ...someone("1", "gatehouse-bot"), bot: true },
            guilds: [],
            session_id: "session",
            resume_gateway_url: `ws://127.0.0.1:${server.port}`,
            application: { id: APPLICATION_ID, flags: 0 },
          });
        }
      },
    },
  });

  let typed = 0;
  const fake: FakeDiscord = {
    posted,
    isSilent: false,
    isAway: false,
    api: `http://127.0.0.1:${server.port}/api`,
    registered,
    async type(name, options = {}) {
      const token = `token${++typed}`;
      dispatch("INTERACTION_CREATE", {
        id: String(typed),
        application_id: APPLICATION_ID,
        type: 2,
        token,
        version: 1,
        locale: "en-US",
        entitlements: [],
        authorizing_integration_owners: { "1": "5" },
        app_permissions: "0",
        channel_id: "8",
        user: someone("5", "moderator"),
        data: {
          id: "1",
          type: 1,
          name,
          options: Object.entries(options).map(([option, value]) => ({ name: option, type: 3, value })),
        },
      });
      await until(`the bot does not answer /${name}`, () => answers.has(token));
      return answers.get(token) as FakeAnswer;
    },
    stop: () => server.stop(true),
  };
  return fake;
}

function someone(id: string, username: string) {
  return { id, username, discriminator: "0", avatar: null, global_name: null };
}
