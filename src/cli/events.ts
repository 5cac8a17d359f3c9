// gatehouse events: what happened on a game server, and what happens from now on.
import { Command } from "commander";
import { ERRORS } from "../core/errors.ts";
import {
  EVENTS_LIMIT_MAX,
  type EventPage,
  type EventResource,
  WAIT_SECONDS_MAX,
} from "../core/wire/event.ts";
import type { ServerResource } from "../core/wire/server.ts";
import { describeEvent } from "./describe-event.ts";
import { CommandFailed, EXIT_CODES } from "./exit-codes.ts";
import { obtainServerId } from "./find-server.ts";
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
/** A waiting read is answered after its wait; the rest is for the way there and back. */
const WAIT_DEADLINE_MS = (WAIT_SECONDS_MAX + 15) * 1000;
/** How long --follow waits before it asks a Gatehouse again that cannot be reached or does not wait. */
const RETRY_MS = 1_000;

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
  const source = new EventSource(session, await findServerId(session, options.server), options.types);
  const show = (events: readonly EventResource[]) => showOrFail(() => printEvents(session, events));
  let next: string;
  if (options.after === undefined) {
    const newest = await source.readNewest(options.limit ?? ROWS_DEFAULT);
    await show(newest.events);
    next = newest.next;
  } else {
    next = await source.readAfter(options.after, options.limit ?? Number.POSITIVE_INFINITY, show);
  }
  while (options.follow) next = await followOnce(source, next, show);
}

/** The only server needs no name. */
async function findServerId(session: Session, reference: string | undefined): Promise<string> {
  if (reference === undefined) {
    const { items } = await session.admin.list<ServerResource>({ path: ["servers"] }, 2);
    const [only, ...others] = items;
    if (only && others.length === 0) return only.server_id;
  }
  return obtainServerId(session, reference, "name one with --server");
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

  /** Waits for events after the cursor. */
  waitAfter(after: string): Promise<EventPage> {
    const wait = String(WAIT_SECONDS_MAX);
    return this.#read({ after, limit: String(EVENTS_LIMIT_MAX), wait }, WAIT_DEADLINE_MS);
  }

  async #read(query: Readonly<Record<string, string>>, deadlineMs?: number): Promise<EventPage> {
    const { text } = await this.#session.admin.call<EventPage>({
      path: ["servers", this.#serverId, "events"],
      query: { ...query, types: this.#types },
      notFoundMessage: `there is no server ${this.#serverId}: gatehouse servers list shows them`,
      ...(deadlineMs !== undefined && { deadlineMs }),
    });
    return parseExactly(text);
  }
}

/** Shows what comes next and returns the cursor after it. A Gatehouse that restarts is waited for. */
async function followOnce(source: EventSource, after: string, show: Show): Promise<string> {
  const startedAt = performance.now();
  try {
    const page = await source.waitAfter(after);
    await show(page.items);
    // A Gatehouse that stops answers without waiting.
    const isQuick = page.items.length === 0 && !page.has_more && performance.now() - startedAt < RETRY_MS;
    if (isQuick) await Bun.sleep(RETRY_MS);
    return page.next;
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    const { code, oldest } = error.error ?? {};
    if (code === ERRORS.cursorExpired.code && typeof oldest === "string") {
      process.stderr.write("gatehouse: some events were deleted before they could be shown\n");
      return oldest;
    }
    if (error.exitCode !== EXIT_CODES.unavailable && code !== ERRORS.tooManyStreams.code) throw error;
    await Bun.sleep(RETRY_MS);
    return after;
  }
}

/** Keeps whole numbers that a double cannot hold: they are written again as they were. */
function parseExactly(text: string): EventPage {
  return JSON.parse(text, (_key, value, { source }) => {
    const isChanged = typeof value === "number" && source !== undefined && String(value) !== source;
    return isChanged ? JSON.rawJSON(source) : value;
  }) as EventPage;
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
