// /admin/audit: who did what, as a list with filters and as a download.
import Type from "typebox";
import { isRefusal, NOT_FOUND, type Refusal, refuseField } from "../../core/errors.ts";
import { TIME_MAX_MS } from "../../core/events/elements.ts";
import { writeCsv, writeCsvRows } from "../../core/history/history-csv.ts";
import type { AuditEntry, AuditFilter } from "../../core/ports/audit.ts";
import { PAGE_SIZE_MAX, type Page } from "../../core/ports/pages.ts";
import { AuditEntryResource } from "../../core/wire/audit.ts";
import { respond } from "../answers.ts";
import type { Call } from "../call.ts";
import { shows } from "../operation.ts";
import { oneOf, type QueryValues, textLike, wholeNumber } from "../requests/query-fields.ts";
import { describePage, subjectOf } from "./admin-operation.ts";
import { KEY } from "./keys.ts";

/** The most entries of one download. */
const EXPORTED_MAX = 100_000;
/** What the database may take for one page of a download. */
const PAGE_MS = 30_000;
const TEXT_MAX = 100;

const MEDIA_TYPES = { csv: "text/csv", jsonl: "application/jsonl" } as const;
type Format = keyof typeof MEDIA_TYPES;
const FORMATS: readonly Format[] = ["csv", "jsonl"];

const COLUMNS = ["id", "at", "action", "actor_kind", "actor_id", "actor_name", "address", "target", "details"];
const ENTRY = {
  id: "aud_2",
  at: 1_794_721_661_197,
  action: "key.changed",
  actor: { kind: "master", id: "c9543c00", name: "master key", address: "127.0.0.1" },
  target: KEY.key_id,
  details: { before: { suspended: false }, after: { suspended: true } },
};

function text(description: string) {
  const schema = Type.String({ minLength: 1, maxLength: TEXT_MAX });
  return textLike(`must be a text of 1 to ${TEXT_MAX} characters`, schema, { description }, /^[\s\S]{1,100}$/u);
}

const FILTER_FIELDS = {
  actor: text("Only what these did: the id of a person or key, `master`, or part of a name, without case."),
  action: text("Only this action, like `key.created`."),
  target: text("Only what was done to this: an id."),
  from: wholeNumber(0, TIME_MAX_MS, { description: "Only what was done then or later, in epoch milliseconds." }),
  to: wholeNumber(0, TIME_MAX_MS, { description: "Only what was done before, in epoch milliseconds." }),
  query: text("Only entries with this in their action, names, target or details, without case."),
};

const audit = subjectOf("Blocks, commands, audit");

export const auditOperations = {
  list: audit.list({
    id: "listAudit",
    summary: "Who did what",
    description:
      "Newest first. Entries are never altered. The work for a page is bounded: with a filter a page may have few items or none and still a `next`; the search is over when `next` is null.",
    query: FILTER_FIELDS,
    item: AuditEntryResource,
    example: ENTRY,
    async read({ store }, page, { query, authority }) {
      const filter = parseFilter(query);
      if (isRefusal(filter)) return filter;
      const serverIds = authority.listServers("people");
      return describePage(await store.audit.list({ ...filter, ...page, serverIds }), describeEntry);
    },
  }),

  export: audit.define({
    id: "exportAudit",
    summary: "Download who did what",
    description: `The entries of the list, newest first, at most ${EXPORTED_MAX.toLocaleString("en")}: as CSV with a line of titles, or one JSON object a line. For what is older, give \`to\` the time of the last one.`,
    query: {
      ...FILTER_FIELDS,
      format: oneOf(FORMATS, { description: "`csv` when it is left out." }),
    },
    answers: {
      200: {
        description: "The entries.",
        headers: ["CacheControl", "Disposition"],
        schema: Type.String(),
        mediaType: Object.values(MEDIA_TYPES),
        examples: {},
      },
    },
    errors: ["invalidRequest"],
    async handle({ store }, { call, query: { format = "csv", ...query }, authority, recheck }) {
      const filter = parseFilter(query);
      if (isRefusal(filter)) return filter;
      const first = await store.audit.list({
        ...filter,
        limit: PAGE_SIZE_MAX,
        serverIds: authority.listServers("exports"),
      });
      const readNext = async (cursor: string) => {
        // The right may have ended since the last page.
        const present = await recheck();
        if (isRefusal(present)) return undefined;
        return store.audit.list({ ...filter, limit: PAGE_SIZE_MAX, cursor, serverIds: present.listServers("exports") });
      };
      const response = respond(streamEntries(call, format, first, readNext), 200, null);
      response.headers.set("Content-Type", MEDIA_TYPES[format]);
      response.headers.set("Content-Disposition", `attachment; filename="gatehouse-audit.${format}"`);
      return response;
    },
  }),

  show: audit.define({
    id: "showAuditEntry",
    summary: "Show an entry of the audit log",
    answers: { 200: shows("The entry.", AuditEntryResource, ENTRY) },
    errors: ["notFound"],
    async handle({ store }, { id, authority }) {
      const entry = await store.audit.find(id);
      if (!entry) return NOT_FOUND;
      return authority.require(entry.serverId, "people") ?? describeEntry(entry);
    },
  }),
};

function parseFilter(query: QueryValues<typeof FILTER_FIELDS>): AuditFilter | Refusal {
  const { from, to } = query;
  if (from !== undefined && to !== undefined && from >= to) return refuseField("to", "must be after from");
  const { actor, action, target, query: part } = query;
  return { actor, action, target, from, to, query: part };
}

function describeEntry({ id, at, action, actor, target, details }: AuditEntry): AuditEntryResource {
  return { id, at, action, actor, target, details };
}

/** Reads a page when the reader has taken the one before. A download whose reader loses the right is cut, not ended. */
function streamEntries(
  call: Call,
  format: Format,
  first: Page<AuditEntry>,
  readNext: (cursor: string) => Promise<Page<AuditEntry> | undefined>,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let next: string | null = null;
  let written = 0;
  const write = (controller: ReadableStreamDefaultController<Uint8Array>, page: Page<AuditEntry>) => {
    const items = page.items.slice(0, EXPORTED_MAX - written);
    written += items.length;
    next = written < EXPORTED_MAX ? page.next : null;
    const lines = format === "csv" ? writeCsvRows(items.map(toRow)) : items.map(writeLine).join("");
    controller.enqueue(encoder.encode(lines));
    if (next === null) controller.close();
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        if (format === "csv") controller.enqueue(encoder.encode(writeCsv(COLUMNS, [])));
        write(controller, first);
      },
      async pull(controller) {
        if (next === null) return;
        call.extendIdleTimeout(PAGE_MS);
        try {
          const page = await readNext(next);
          if (page) write(controller, page);
          else controller.error(new Error("the right to the audit log has ended"));
        } finally {
          call.resetIdleTimeout();
        }
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: 1 }),
  );
}

function toRow({ id, at, action, actor, target, details }: AuditEntry) {
  const { kind, id: actorId, name, address } = actor;
  return [id, new Date(at).toISOString(), action, kind, actorId, name, address, target, JSON.stringify(details)];
}

function writeLine(entry: AuditEntry): string {
  return `${JSON.stringify(describeEntry(entry))}\n`;
}
