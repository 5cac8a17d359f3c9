// A Discord that takes the requests of webhooks and is as strict as the real one: every limit of a message, rate limits with
// their headers, messages that can be edited and deleted. `refused` has everything that it did not want to get.
import { findDiscordProblems, findHostileMarkdown } from "./discord-limits.ts";

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

type Bucket = { endsAt: number; left: number };

const TOKEN = "t0ken-of_the-fake-Discord-0123456789abcdefghijklmnopqrstuvwxyzABCDEFG";
const PATH = /^\/api\/webhooks\/(\d+)\/([\w-]+)(?:\/messages\/(\d+))?$/;

export class FakeDiscord {
  /** Why a request was refused, one entry for each. */
  readonly refused: string[] = [];
  /** The messages of each webhook, oldest first. */
  readonly messages = new Map<string, FakeMessage[]>();
  /** Requests are answered with 429 and `global: true` until this time. */
  globalUntil = 0;
  readonly #server: ReturnType<typeof Bun.serve>;
  readonly #buckets = new Map<string, Bucket>();
  readonly #limit: number;
  readonly #windowMs: number;
  #lastId = 1_000_000_000_000_000_000n;

  constructor({ limit = 5, windowMs = 2_000 }: FakeDiscordOptions = {}) {
    this.#limit = limit;
    this.#windowMs = windowMs;
    this.#server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request) => this.#answer(request) });
  }

  urlOf(webhook: number): string {
    return `http://127.0.0.1:${this.#server.port}/api/webhooks/${webhook}/${TOKEN}`;
  }

  messagesOf(webhook: number): readonly FakeMessage[] {
    return this.messages.get(String(webhook)) ?? [];
  }

  deleteMessages(webhook: number): void {
    this.messages.delete(String(webhook));
  }

  async stop(): Promise<void> {
    await this.#server.stop(true);
  }

  async #answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const [, webhook = "", token, messageId] = PATH.exec(url.pathname) ?? [];
    if (token !== TOKEN) return this.#refuse(401, 50_027, "Invalid Webhook Token");
    const limited = this.#findLimit(webhook);
    if (limited) return limited;
    if (request.headers.get("content-type") !== "application/json")
      return this.#refuse(400, 50_109, "no JSON");
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
    const place = known.findIndex((message) => message.id === id);
    const found = known[place];
    // Somebody has deleted it: that is not the sender's fault.
    if (!found) return Response.json({ code: 10_008, message: "Unknown Message" }, { status: 404 });
    known[place] = { id, body, edits: found.edits + 1 };
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
