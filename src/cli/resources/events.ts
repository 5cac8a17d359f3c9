// gatehouse events: what happened on a game server, and what happens from now on, one line of text for each event.
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { CONTROL_MESSAGES } from "../../../packages/client/src/event-stream.ts";
import { isObject } from "../../../packages/client/src/gatehouse-error.ts";
import type { SseMessage } from "../../../packages/client/src/sse-parser.ts";
import { ERRORS } from "../../core/errors.ts";
import type { EventType } from "../../core/events/event-types.ts";
import { EVENTS_LIMIT_MAX, type EventPage, type EventResource } from "../../core/wire/event.ts";
import type { AdminRequest } from "../connection/admin-client.ts";
import {
  addSessionOptions,
  adminCommand,
  parseLimit,
  ROWS_DEFAULT,
  type Session,
  type SessionOptions,
  showOrFail,
} from "../connection/session.ts";
import { CommandFailed, EXIT_CODES } from "../exit-codes.ts";
import type { Cell } from "../terminal/printer.ts";
import { formatMoment } from "../terminal/times.ts";
import { obtainServerIdOrOnly, requestFor, SERVERS } from "./find-resource.ts";
import { checkTypes } from "./settings.ts";

/** "2026-11-15 05:39:50+01:00" and the longest type. */
const WIDTHS = [25, "server.unreachable".length];

type EventsOptions = SessionOptions & {
  readonly types?: string;
  readonly after?: string;
  readonly follow?: boolean;
};

export function createEventsCommand(): Command {
  const events = adminCommand("events", "show what happened on a game server, oldest first", showEvents)
    .option("--server <server>", "id or name of the server; not needed when there is only one")
    .option("--types <types>", "only these types, separated by commas (player.*,gap)", checkTypes)
    .option("--after <cursor>", "only what came after this event (its id), earliest or now")
    .option(
      "--limit <number>",
      `show at most this many (default: without --after the newest ${ROWS_DEFAULT}, with it all)`,
      parseLimit,
    )
    .option("--follow", "go on with what happens from now on, until it is interrupted");
  return addSessionOptions(events);
}

async function showEvents(session: Session, options: EventsOptions): Promise<void> {
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
  const deps: FollowDeps = {
    open: (cursor, signal) => source.stream(cursor, signal),
    parse: parseExactly<EventResource>,
    show: (event) => show([event]),
    pause: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => {}),
    onOutage: () => void process.stderr.write("gatehouse: the connection is lost; waiting for Gatehouse\n"),
  };
  await followEvents(deps, after, interrupted.signal);
}

type Show = (events: readonly EventResource[]) => void | Promise<void>;

/** Reads the ledger of one server. */
export class EventSource {
  constructor(
    private readonly session: Pick<Session, "admin">,
    private readonly serverId: string,
    private readonly types: string | undefined,
  ) {}

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
    return this.session.admin.stream(this.#ask(["events", "stream"], { after }), signal);
  }

  async #read(query: Readonly<Record<string, string>>): Promise<EventPage> {
    const { text } = await this.session.admin.call<EventPage>(this.#ask(["events"], query));
    return parseExactly(text);
  }

  #ask(path: readonly string[], query: Readonly<Record<string, string>>): AdminRequest {
    return { ...requestFor(SERVERS, this.serverId, ...path), query: { ...query, types: this.types } };
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

/** Waits before the next connection. Each failure in a row uses the next, the last repeats. */
export const BACKOFF_MS = [250, 500, 1_000, 2_000, 4_000];

type FollowDeps = {
  /** Opens the stream after a cursor. Throws CommandFailed when it is refused or breaks. */
  readonly open: (after: string, signal: AbortSignal) => AsyncIterable<SseMessage>;
  readonly parse: (text: string) => EventResource;
  readonly show: (event: EventResource) => void | Promise<void>;
  /** Ends early when the signal does. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Called once for each outage. */
  readonly onOutage: () => void;
};

/** Shows each event after the cursor once, until the signal is aborted. Throws when coming back cannot help. */
export async function followEvents(deps: FollowDeps, after: string, signal: AbortSignal): Promise<void> {
  const { open, parse, show, pause, onOutage } = deps;
  let place = after;
  let isAway = false;
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      for await (const { id, event, data } of open(place, signal)) {
        if (signal.aborted) return;
        if (event === "bye") checkBye(data);
        if (!CONTROL_MESSAGES.has(event)) await show(parse(data));
        // After it was shown: what was not shown comes again.
        if (id !== "") place = id;
        failures = 0;
        isAway = false;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof CommandFailed) || !isTemporary(error)) throw error;
      if (!isAway) onOutage();
      isAway = true;
    }
    await pause(BACKOFF_MS[Math.min(failures, BACKOFF_MS.length - 1)] ?? 0, signal);
  }
}

function isTemporary({ exitCode, error }: CommandFailed): boolean {
  return exitCode === EXIT_CODES.unavailable || error?.code === ERRORS.tooManyStreams.code;
}

/** The stream of a deleted server ends for good; after any other end it can be opened again, or is refused. */
function checkBye(data: string): void {
  const { code } = JSON.parse(data) as { readonly code?: number };
  if (code === ERRORS.notFound.code) throw new CommandFailed("the server was deleted", EXIT_CODES.notFound);
}

type Fields = EventResource["data"];

type Describe = (data: Fields, meta: EventResource["meta"]) => string;

const describePlayer: Describe = ({ Player }) => nameOf(Player);
const describeCall: Describe = (data) =>
  `#${textOf(data.CallNumber)} ${textOf(data.Team)}: ${textOf(data.Description)}`;
const describeVehicle: Describe = ({ Owner, Name }) => `${textOf(Owner)}: ${textOf(Name)}`;
const describeStaff: Describe = ({ Name, Role }) => `${textOf(Name)} (${textOf(Role)})`;
const describeServer: Describe = ({ upstream_message }) => textOf(upstream_message || null);
const describeAlert: Describe = ({ text }) => textOf(text);

const DESCRIBE: Readonly<Record<EventType, Describe>> = {
  "player.joined": describePlayer,
  "player.left": describePlayer,
  "player.killed": ({ Killer, Killed }) =>
    Killer ? `${nameOf(Killer)} killed ${nameOf(Killed)}` : `${nameOf(Killed)} died`,
  "command.used": ({ Player, Command }) => `${nameOf(Player)}: ${textOf(Command)}`,
  "modcall.opened": ({ Caller }) => `${nameOf(Caller)} called for a moderator`,
  "modcall.claimed": ({ Caller }, meta) => `${nameOfWho(meta)} goes to ${nameOf(Caller)}`,
  "modcall.released": ({ Caller }, meta) => `${nameOfWho(meta)} released the call of ${nameOf(Caller)}`,
  "modcall.answered": ({ Moderator, Caller }) => `${nameOf(Moderator)} came to ${nameOf(Caller)}`,
  "call.opened": describeCall,
  "call.changed": describeCall,
  "call.closed": describeCall,
  "custom.command": ({ Player, Command, Argument }) =>
    `${textOf(Player)}: ${textOf(Command)} ${textOf(Argument)}`.trimEnd(),
  "custom.unknown": ({ Event }) => textOf(Event),
  "player.changed": (data, meta) => `${nameOf(data.Player)} ${describeChanges(data, meta)}`,
  "vehicle.spawned": describeVehicle,
  "vehicle.removed": describeVehicle,
  "staff.added": describeStaff,
  "staff.removed": describeStaff,
  "queue.changed": ({ Queue }, meta) => `${countOf(meta?.before)} → ${countOf(Queue)} waiting`,
  "server.changed": describeChanges,
  "server.online": describeServer,
  "server.offline": describeServer,
  "server.unreachable": describeServer,
  "alert.raised": describeAlert,
  "alert.cleared": describeAlert,
  gap: ({ section, reason }) => `${section === "*" ? "changes" : textOf(section)} may be missing (${textOf(reason)})`,
};

/** What happened, without the time and the type. A type of a newer version is shown as JSON. */
export function describeEvent({ type, data, meta }: EventResource): string {
  return Object.hasOwn(DESCRIBE, type) ? DESCRIBE[type](data, meta) : JSON.stringify(data);
}

function describeChanges(data: Fields, meta: EventResource["meta"]): string {
  const before = isObject(meta?.before) ? meta.before : {};
  return Object.entries(before)
    .map(([field, was]) => `${field}: ${textOf(was)} → ${textOf(data[field])}`)
    .join(", ");
}

/** The name in `<player_name>:<player_id>`. */
function nameOf(reference: unknown): string {
  return textOf(reference).replace(/:\d+$/, "");
}

/** Whoever claimed a call: a person or a key. */
function nameOfWho(meta: EventResource["meta"]): string {
  return isObject(meta?.by) ? textOf(meta.by.name) : "-";
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return "-";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function countOf(list: unknown): string {
  return Array.isArray(list) ? String(list.length) : "?";
}
