// gatehouse events: what happened on a game server, and what happens from now on.
import { setTimeout as sleep } from "node:timers/promises";
import { Command } from "commander";
import type { SseMessage } from "../../packages/client/src/sse-parser.ts";
import { EVENTS_LIMIT_MAX, type EventPage, type EventResource } from "../core/wire/event.ts";
import type { AdminRequest } from "./admin-client.ts";
import { describeEvent } from "./describe-event.ts";
import { obtainServerIdOrOnly } from "./find-server.ts";
import { type FollowParts, followEvents } from "./follow-events.ts";
import type { Cell } from "./printer.ts";
import {
  addSessionOptions,
  openSession,
  parseLimit,
  ROWS_DEFAULT,
  type Session,
  type SessionOptions,
  showOrFail,
} from "./session.ts";
import { formatMoment } from "./times.ts";

/** "2026-11-15 05:39:50+01:00" and the longest type. */
const WIDTHS = [25, "server.unreachable".length];

export type EventsOptions = SessionOptions & {
  readonly server?: string;
  readonly types?: string;
  readonly after?: string;
  readonly limit?: number;
  readonly follow?: boolean;
};

export function createEventsCommand(): Command {
  const events = new Command("events")
    .description("show what happened on a game server, oldest first")
    .option("--server <server>", "id or name of the server; not needed when there is only one")
    .option("--types <types>", "only these types, separated by commas (player.*,gap)")
    .option("--after <cursor>", "only what came after this event (its id), earliest or now")
    .option(
      "--limit <number>",
      `show at most this many (default: without --after the newest ${ROWS_DEFAULT}, with it all)`,
      parseLimit,
    )
    .option("--follow", "go on with what happens from now on, until it is interrupted")
    .action(showEvents);
  return addSessionOptions(events);
}

async function showEvents(options: EventsOptions): Promise<void> {
  const session = await openSession(options);
  const source = new EventSource(session, await obtainServerIdOrOnly(session, options.server), options.types);
  const show = (events: readonly EventResource[]) => showOrFail(() => printEvents(session, events));
  let next: string;
  if (options.after === undefined) {
    const newest = await source.readNewest(options.limit ?? ROWS_DEFAULT);
    await show(newest.events);
    next = newest.next;
  } else {
    next = await source.readAfter(options.after, options.limit ?? Number.POSITIVE_INFINITY, show);
  }
  if (options.follow) await follow(source, next, show);
}

/** Until it is interrupted, which is no failure. */
async function follow(source: EventSource, after: string, show: Show): Promise<void> {
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupted.abort());
  const parts: FollowParts = {
    open: (place, signal) => source.stream(place, signal),
    parse: parseExactly<EventResource>,
    show: (event) => show([event]),
    pause: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => {}),
    onOutage: () => void process.stderr.write("gatehouse: the connection is lost; waiting for Gatehouse\n"),
  };
  await followEvents(parts, after, interrupted.signal);
}

type Show = (events: readonly EventResource[]) => void | Promise<void>;

/** Reads the ledger of one server. */
export class EventSource {
  readonly #session: Pick<Session, "admin">;
  readonly #serverId: string;
  readonly #types: string | undefined;

  constructor(session: Pick<Session, "admin">, serverId: string, types: string | undefined) {
    this.#session = session;
    this.#serverId = serverId;
    this.#types = types;
  }

  /** The newest events, oldest first, and the cursor after them. */
  async readNewest(limit: number): Promise<{ events: EventResource[]; next: string }> {
    const pages: (readonly EventResource[])[] = [];
    let left = limit;
    let next: string | undefined;
    for (let before: string | undefined = "now"; before !== undefined && left > 0; ) {
      const page = await this.#read({ before, limit: String(Math.min(left, EVENTS_LIMIT_MAX)) });
      next ??= page.next;
      pages.unshift(page.items);
      left -= page.items.length;
      before = page.has_more ? page.previous : undefined;
    }
    return { events: pages.flat(), next: next ?? "now" };
  }

  /** Shows at most `limit` events after the cursor, page by page. Returns the cursor that was reached. */
  async readAfter(after: string, limit: number, show: Show): Promise<string> {
    let next = after;
    for (let left = limit; left > 0; ) {
      const page = await this.#read({ after: next, limit: String(Math.min(left, EVENTS_LIMIT_MAX)) });
      await show(page.items);
      next = page.next;
      left -= page.items.length;
      if (!page.has_more) break;
    }
    return next;
  }

  /** What the stream after the cursor says, until it ends. */
  stream(after: string, signal: AbortSignal): AsyncIterable<SseMessage> {
    return this.#session.admin.stream(this.#ask(["events", "stream"], { after }), signal);
  }

  async #read(query: Readonly<Record<string, string>>): Promise<EventPage> {
    const { text } = await this.#session.admin.call<EventPage>(this.#ask(["events"], query));
    return parseExactly(text);
  }

  #ask(path: readonly string[], query: Readonly<Record<string, string>>): AdminRequest {
    return {
      path: ["servers", this.#serverId, ...path],
      query: { ...query, types: this.#types },
      notFoundMessage: `there is no server ${this.#serverId}: gatehouse servers list shows them`,
    };
  }
}

/** Keeps whole numbers that a double cannot hold: they are written again as they were. */
function parseExactly<T>(text: string): T {
  return JSON.parse(text, (_key, value, { source }) => {
    const isChanged = typeof value === "number" && source !== undefined && String(value) !== source;
    return isChanged ? JSON.rawJSON(source) : value;
  }) as T;
}

export function printEvents(
  { printer, wantsJson }: Pick<Session, "printer" | "wantsJson">,
  events: readonly EventResource[],
): void {
  for (const event of events) {
    if (wantsJson) process.stdout.write(`${JSON.stringify(event)}\n`);
    else printer.printRow([formatMoment(event.at), typeCell(event), describeEvent(event)], WIDTHS);
  }
}

function typeCell({ type, backfill }: EventResource): Cell {
  if (type === "gap" || type === "server.unreachable") return { text: type, colour: "yellow" };
  return backfill ? { text: type, colour: "dim" } : type;
}
