// gatehouse audit: who changed what, newest first.
import { Command } from "commander";
import type { AuditEntryResource } from "../core/wire/audit.ts";
import { type Names, nameKey, nameServer, readKeyLabels, readServerNames } from "./find-names.ts";
import type { Field, Printer } from "./printer.ts";
import {
  addSessionOptions,
  callAndShow,
  listAndShow,
  openSession,
  parseLimit,
  ROWS_DEFAULT,
  type Session,
  type SessionOptions,
} from "./session.ts";
import { formatMoment } from "./times.ts";

export function createAuditCommand(): Command {
  const list = new Command("list")
    .description("list the changes, newest first")
    .option("--limit <number>", `show at most this many (tables: ${ROWS_DEFAULT}, --json: all)`, parseLimit)
    .action(listEntries);
  const show = new Command("show")
    .description("show one change, with all that was changed and by whom")
    .argument("<id>", "id of the entry (aud_…)")
    .action(showEntry);
  // Without a word after it, audit lists.
  return new Command("audit")
    .description("show who changed what")
    .addCommand(addSessionOptions(list), { isDefault: true })
    .addCommand(addSessionOptions(show));
}

async function listEntries(options: SessionOptions & { readonly limit?: number }): Promise<void> {
  const session = await openSession(options);
  const limit = options.limit ?? (session.wantsJson ? undefined : ROWS_DEFAULT);
  await listAndShow<AuditEntryResource>(session, { path: ["audit"] }, limit, async ({ items }) => {
    if (items.length === 0) return session.printer.printLine("nothing was changed yet");
    const targets = items.map(({ target }) => target);
    const names = new Map([...(await readServerNames(session)), ...(await readKeyLabels(session, targets))]);
    printEntries(session.printer, items, names);
  });
}

export function printEntries(printer: Printer, entries: readonly AuditEntryResource[], names: Names): void {
  printer.printTable(
    [
      { title: "ID", isWhole: true },
      { title: "TIME", isWhole: true },
      { title: "ACTION", isWhole: true },
      { title: "TARGET" },
      { title: "CHANGE", isExtra: true },
      { title: "BY", isExtra: true },
    ],
    entries.map((entry) => [
      entry.id,
      formatMoment(entry.at),
      entry.action,
      names.get(entry.target) ?? entry.target,
      describeChange(entry.details),
      describeActor(entry),
    ]),
  );
}

async function showEntry(id: string, options: SessionOptions): Promise<void> {
  const session = await openSession(options);
  const notFoundMessage = `there is no entry ${id}: gatehouse audit lists them`;
  await callAndShow<AuditEntryResource>(session, { path: ["audit", id], notFoundMessage }, async (entry) => {
    session.printer.printFields([
      ["entry", entry.id],
      ["time", formatMoment(entry.at)],
      ["action", entry.action],
      ["target", await nameTarget(session, entry.target)],
      ["by", describeActor(entry)],
      ...listChanges(entry.details).map((change): Field => ["change", change]),
    ]);
  });
}

async function nameTarget(session: Session, target: string): Promise<string> {
  if (target.startsWith("srv_")) return await nameServer(session, target);
  return target.startsWith("key_") ? await nameKey(session, target) : target;
}

function describeActor({ actor }: AuditEntryResource): string {
  return `master key ${actor.fingerprint} at ${actor.address}`;
}

/** "label: old → new, community: -"; other details are shown as JSON. */
export function describeChange(details: unknown): string {
  return listChanges(details).join(", ") || "-";
}

/** One text for each changed field. */
function listChanges(details: unknown): string[] {
  const { before = {}, after = {}, ...others } = isObject(details) ? details : {};
  const isChange =
    isObject(details) && isObject(before) && isObject(after) && Object.keys(others).length === 0;
  if (!isChange) return [toWords(details)];
  const fields = new Set([...Object.keys(before), ...Object.keys(after)]);
  return Array.from(fields, (field) => {
    const [was, is] = [before[field], after[field]].map((value) => describeValue(field, value));
    if (!(field in before)) return `${field}: ${is}`;
    return field in after ? `${field}: ${was} → ${is}` : `${field}: was ${was}`;
  });
}

/** Times are shown as everywhere else, not in milliseconds. */
function describeValue(field: string, value: unknown): string {
  return typeof value === "number" && /_(?:at|until)$/.test(field) ? formatMoment(value) : toWords(value);
}

function toWords(value: unknown): string {
  if (value === null || value === undefined) return "-";
  if (Array.isArray(value)) return `[${value.map(toWords).join(" ")}]`;
  return typeof value === "string" ? value : JSON.stringify(value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
