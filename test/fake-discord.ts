// A fake Discord: webhooks, as strict as the real one with every limit of a message, and the part of its HTTP API and of its
// gateway that a bot with slash commands needs. `refused` has everything that it did not want to get.
import type { ServerWebSocket } from "bun";
import { findDiscordProblems, findHostileMarkdown } from "./discord-limits.ts";
import { until } from "./until.ts";

export type FakeMessage = { readonly id: string; readonly body: DiscordBody; readonly edits: number };
type DiscordBody = {
  readonly embeds: readonly {
    readonly title: string;
    readonly description: string;
    readonly fields?: readonly { readonly value: string }[];
  }[];
};

export type FakeDiscordOptions = {
  /** So many messages of one webhook are taken in each window. */
  readonly limit?: number;
  readonly windowMs?: number;
};

export type PostedMessage = FakeReply & { readonly nonce: string };
/** What a bot answers to a command. */
export type FakeReply = { readonly content: string; readonly allowed_mentions?: { readonly parse: string[] } };

type Bucket = { endsAt: number; left: number };

const TOKEN = "t0ken-of_the-fake-Discord-0123456789abcdefghijklmnopqrstuvwxyzABCDEFG";
const APPLICATION_ID = "1000000000000000001";
export const CHANNEL_ID = "1000000000000000002";
const PATH = /^\/api\/webhooks\/(\d+)\/([\w-]+)(?:\/messages\/(\d+))?$/;

export class FakeDiscord {
  /** Why a request was refused, one entry for each. */
  readonly refused: string[] = [];
  /** The messages of each webhook, oldest first. */
  readonly messages = new Map<string, FakeMessage[]>();
  /** Requests are answered with 429 and `global: true` until this time. */
  globalUntil = 0;
  /** The names of the commands that a bot has registered. */
  readonly registered: string[] = [];
  /** What a bot has posted, oldest first. A nonce that was used before makes no message, as with Discord. */
  readonly posted: PostedMessage[] = [];
  /** While it is set, a bot's messages are taken and get no answer. */
  isSilent = false;
  /** While it is set, a bot is told to come back later. */
  isAway = false;
  readonly #replies = new Map<string, FakeReply>();
  #socket: ServerWebSocket<unknown> | undefined;
  #dispatched = 0;
  #typed = 0;
  readonly #server: ReturnType<typeof Bun.serve>;
  readonly #buckets = new Map<string, Bucket>();
  readonly #limit: number;
  readonly #windowMs: number;
  #lastId = 1_000_000_000_000_000_000n;

  constructor({ limit = 5, windowMs = 2_000 }: FakeDiscordOptions = {}) {
    this.#limit = limit;
    this.#windowMs = windowMs;
    this.#server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: (request, server) => {
        if (request.headers.get("upgrade") !== "websocket") return this.#answer(request);
        return server.upgrade(request, { data: undefined }) ? undefined : new Response(null, { status: 400 });
      },
      websocket: {
        open: (socket) => {
          this.#socket = socket;
          socket.send(JSON.stringify({ op: 10, d: { heartbeat_interval: 45_000 } }));
        },
        message: (socket, text) => this.#answerFrame(socket, (JSON.parse(String(text)) as { op: number }).op),
      },
    });
  }

  /** The base URL, which a bot gets instead of Discord's. */
  get api(): string {
    return `http://127.0.0.1:${this.#server.port}/api`;
  }

  urlOf(webhook: number): string {
    return `${this.api}/webhooks/${webhook}/${TOKEN}`;
  }

  messagesOf(webhook: number): readonly FakeMessage[] {
    return this.messages.get(String(webhook)) ?? [];
  }

  deleteMessages(webhook: number): void {
    this.messages.delete(String(webhook));
  }

  /** Sends a command to the bot as if a user had typed it. Returns the bot's final answer. */
  async type(name: string, options: Readonly<Record<string, string>> = {}): Promise<FakeReply> {
    const token = `token${++this.#typed}`;
    this.#dispatch("INTERACTION_CREATE", {
      id: String(this.#typed),
      application_id: APPLICATION_ID,
      type: 2,
      token,
      version: 1,
      locale: "en-US",
      entitlements: [],
      authorizing_integration_owners: { "1": "5" },
      app_permissions: "0",
      channel_id: "8",
      user: makeUser("5", "moderator"),
      data: {
        id: "1",
        type: 1,
        name,
        options: Object.entries(options).map(([option, value]) => ({ name: option, type: 3, value })),
      },
    });
    await until(`the bot does not answer /${name}`, () => this.#replies.has(token));
    return this.#replies.get(token) as FakeReply;
  }

  async stop(): Promise<void> {
    await this.#server.stop(true);
  }

  #dispatch(event: string, data: unknown): void {
    this.#socket?.send(JSON.stringify({ op: 0, t: event, s: ++this.#dispatched, d: data }));
  }

  #answerFrame(socket: ServerWebSocket<unknown>, op: number): void {
    if (op === 1) socket.send(JSON.stringify({ op: 11 }));
    if (op !== 2) return;
    this.#dispatch("READY", {
      v: 10,
      user: { ...makeUser("1", "gatehouse-bot"), bot: true },
      guilds: [],
      session_id: "session",
      resume_gateway_url: `ws://127.0.0.1:${this.#server.port}`,
      application: { id: APPLICATION_ID, flags: 0 },
    });
  }

  async #answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    // Bots name a version of the API, webhooks do not.
    return url.pathname.startsWith("/api/v") ? this.#answerBot(request, url) : this.#answerWebhook(request, url);
  }

  async #answerBot(request: Request, url: URL): Promise<Response> {
    const pathname = decodeURIComponent(url.pathname);
    if (pathname.endsWith("/gateway/bot")) {
      const session_start_limit = { total: 1000, remaining: 1000, reset_after: 0, max_concurrency: 1 };
      return Response.json({ url: `ws://127.0.0.1:${this.#server.port}`, shards: 1, session_start_limit });
    }
    if (pathname.endsWith(`/applications/${APPLICATION_ID}/commands`)) {
      const commands = (await request.json()) as { readonly name: string }[];
      this.registered.splice(0, this.registered.length, ...commands.map(({ name }) => name));
      return Response.json(commands.map((command, index) => ({ id: String(index + 1), ...command })));
    }
    if (/\/channels\/\d+\/messages$/.test(pathname)) {
      if (this.isAway) return Response.json({ message: "away" }, { status: 503 });
      const message = (await request.json()) as PostedMessage & { enforce_nonce?: boolean };
      const isRepeated = message.enforce_nonce && this.posted.some(({ nonce }) => nonce === message.nonce);
      if (!isRepeated) this.posted.push(message);
      if (this.isSilent) await new Promise<never>(() => {});
      return Response.json({ id: "10", channel_id: CHANNEL_ID, type: 0, ...message });
    }
    if (pathname.endsWith("/callback")) return new Response(null, { status: 204 });
    const token = /\/webhooks\/\d+\/(\w+)\/messages\/@original$/.exec(pathname)?.[1];
    if (token === undefined) return this.#refuse(404, 0, `nobody expected ${pathname}`);
    const reply = (await request.json()) as FakeReply;
    this.#replies.set(token, reply);
    return Response.json({ id: "9", channel_id: "8", type: 0, author: makeUser("7", "bot"), ...reply });
  }

  async #answerWebhook(request: Request, url: URL): Promise<Response> {
    const [, webhook = "", token, messageId] = PATH.exec(url.pathname) ?? [];
    if (token !== TOKEN) return this.#refuse(401, 50_027, "Invalid Webhook Token");
    const limited = this.#findLimit(webhook);
    if (limited) return limited;
    if (request.headers.get("content-type") !== "application/json") return this.#refuse(400, 50_109, "no JSON");
    if (!request.headers.get("user-agent")) return this.#refuse(403, 40_333, "no user agent");
    const body = (await request.json()) as DiscordBody;
    const problems = [...findDiscordProblems(body), ...listTexts(body).flatMap(findHostileMarkdown)];
    if (problems.length > 0) return this.#refuse(400, 50_035, problems.join("; "));
    const known = this.messages.get(webhook) ?? [];
    if (messageId !== undefined) return this.#edit(request.method, known, messageId, body, webhook);
    if (request.method !== "POST") return this.#refuse(405, 0, "wrong method");
    if (url.searchParams.get("wait") !== "true") return this.#refuse(400, 0, "without wait=true");
    const message = { id: String(++this.#lastId), body, edits: 0 };
    this.messages.set(webhook, [...known, message]);
    return Response.json({ id: message.id }, { headers: this.#limitHeaders(webhook) });
  }

  #edit(method: string, known: FakeMessage[], id: string, body: DiscordBody, webhook: string): Response {
    if (method !== "PATCH") return this.#refuse(405, 0, "wrong method");
    const index = known.findIndex((message) => message.id === id);
    const found = known[index];
    // Somebody has deleted it: that is not the sender's fault.
    if (!found) return Response.json({ code: 10_008, message: "Unknown Message" }, { status: 404 });
    known[index] = { id, body, edits: found.edits + 1 };
    return Response.json({ id }, { headers: this.#limitHeaders(webhook) });
  }

  #findLimit(webhook: string): Response | undefined {
    const now = Date.now();
    if (now < this.globalUntil) {
      const retry_after = (this.globalUntil - now) / 1000;
      return Response.json({ message: "limited", retry_after, global: true }, { status: 429 });
    }
    const bucket = this.#bucketOf(webhook, now);
    if (bucket.left-- > 0) return undefined;
    this.refused.push("429: too many messages");
    const retry_after = (bucket.endsAt - now) / 1000;
    return Response.json({ message: "limited", retry_after, global: false }, { status: 429 });
  }

  #bucketOf(webhook: string, now: number): Bucket {
    const known = this.#buckets.get(webhook);
    if (known && now < known.endsAt) return known;
    const bucket = { endsAt: now + this.#windowMs, left: this.#limit };
    this.#buckets.set(webhook, bucket);
    return bucket;
  }

  #limitHeaders(webhook: string): Record<string, string> {
    const now = Date.now();
    const { endsAt, left } = this.#bucketOf(webhook, now);
    return {
      "X-RateLimit-Remaining": String(left),
      "X-RateLimit-Reset-After": String((endsAt - now) / 1000),
    };
  }

  #refuse(status: number, code: number, reason: string): Response {
    this.refused.push(`${status}: ${reason}`);
    return Response.json({ code, message: reason }, { status });
  }
}

/** The texts in which Discord shows markdown. */
function listTexts({ embeds }: DiscordBody): string[] {
  return embeds.flatMap(({ description, fields = [] }) => [description, ...fields.map(({ value }) => value)]);
}

function makeUser(id: string, username: string) {
  return { id, username, discriminator: "0", avatar: null, global_name: null };
}
