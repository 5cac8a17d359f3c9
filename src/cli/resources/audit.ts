// gatehouse audit: who changed what, newest first.
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { type Command, Option } from "commander";
import { isObject } from "../../../packages/client/src/gatehouse-error.ts";
import type { AuditEntryResource } from "../../core/wire/audit.ts";
import { adminCommand, adminGroup, type Session, type SessionOptions, withLimit } from "../connection/session.ts";
import { CommandFailed, failUsage } from "../exit-codes.ts";
import { printResources, type ResourceField } from "../terminal/fields.ts";
import type { Field } from "../terminal/printer.ts";
import { formatMoment, parsePastMoment } from "../terminal/times.ts";
import {
  KEYS,
  nameResource,
  PEOPLE,
  readKeyLabels,
  readPersonNames,
  readServerNames,
  SERVERS,
} from "./find-resource.ts";

export const AUDIT_FIELDS: readonly ResourceField<AuditEntryResource>[] = [
  { name: "id", show: ({ id }) => id, isWhole: true },
  { name: "time", show: ({ at }) => formatMoment(at).slice(0, MINUTE_LENGTH), isWhole: true },
  { name: "by", show: ({ actor }) => nameActor(actor) },
  { name: "action", show: ({ action }) => action, isWhole: true },
  { name: "target", show: ({ target }, { nameOf }) => nameOf(target) },
  { name: "change", show: ({ details }) => describeChange(details), isExtra: true },
];
const MINUTE_LENGTH = "2026-11-15 05:39".length;
export const AUDIT_COLUMNS = ["time", "by", "action", "target", "change"];

const EXPORTS = ["csv", "jsonl"];
const EXAMPLES = `
Examples:
  gatehouse audit --actor Robin --from 7d
  gatehouse audit --action key.created --query "status page"
  gatehouse audit --from 2027-01-01 --export csv --output audit.csv`;

export function createAuditCommand(): Command {
  const list = withLimit(adminCommand("list", "list the changes, newest first", listEntries, checkExport), "--json")
    .option("--ids", "show the ids of the entries")
    .option("--actor <who>", "only what these did: part of a name, an id, or master")
    .option("--action <action>", "only this action, such as key.created")
    .option("--target <id>", "only what was done to this (key_…, srv_…, per_…)")
    .option("--from <time>", "only what was done since: a date, or how long ago, such as 7d")
    .option("--to <time>", "only what was done before")
    .option("--query <text>", "only entries with this in their action, names or details")
    .addOption(new Option("--export <format>", "print all of them, for spreadsheets and programs").choices(EXPORTS))
    .option("--output <file>", "with --export: write to this new file")
    .addHelpText("after", EXAMPLES);
  const show = adminCommand("show", "show one change, with all that was changed and by whom", showEntry);
  // Without a word after it, audit lists.
  return adminGroup("audit", "show who changed what", [list, show.argument("<id>", "id of the entry (aud_…)")], "list");
}

type ListOptions = SessionOptions & {
  readonly [Name in "actor" | "action" | "target" | "from" | "to" | "query" | "export" | "output"]?: string;
};

function checkExport({ export: format, output, json, limit }: ListOptions): void {
  if (output !== undefined && format === undefined) failUsage("--output goes with --export csv or --export jsonl");
  if (format !== undefined && json) failUsage("--json does not go with --export: --export jsonl is JSON in lines");
  if (format !== undefined && limit !== undefined) failUsage("--limit does not go with --export: use --from and --to");
}

async function listEntries(session: Session, options: ListOptions): Promise<void> {
  const { actor, action, target, from, to, query: text, export: format, output } = options;
  const period = { from: toMoment("--from", from, session.now()), to: toMoment("--to", to, session.now()) };
  const query = { actor, action, target, ...period, query: text };
  if (format !== undefined) {
    await exportEntries(session, { ...query, format }, output);
    return;
  }
  const isSearch = Object.values(query).some((value) => value !== undefined);
  const none = isSearch ? "no such changes" : "nothing was changed yet";
  const request = { path: ["audit"], query };
  await session.list<AuditEntryResource>(request, session.rowsOf(options), none, async (entries) => {
    const targets = entries.map(({ target }) => target);
    const names = new Map([
      ...(await readServerNames(session)),
      ...(await readKeyLabels(session, targets)),
      ...(await readPersonNames(session, targets)),
    ]);
    printResources(session, AUDIT_FIELDS, entries, options.ids ? ["id", ...AUDIT_COLUMNS] : AUDIT_COLUMNS, names);
  });
}

function toMoment(option: string, text: string | undefined, now: number): string | undefined {
  if (text === undefined) return undefined;
  const moment = parsePastMoment(text, now);
  if (moment === undefined) failUsage(`${option} must be a date like 2027-01-31, or how long ago, such as 7d or 12h`);
  return String(moment);
}

/** A download that breaks leaves no file: half of it would look like all of it. */
async function exportEntries(
  session: Session,
  query: Readonly<Record<string, string | undefined>>,
  output: string | undefined,
): Promise<void> {
  const chunks = session.admin.download({ path: ["audit", "export"], query });
  if (output === undefined) {
    for await (const chunk of chunks) await writeOut(chunk);
    return;
  }
  const file = openNew(output);
  try {
    for await (const chunk of chunks) writeSync(file, chunk);
  } catch (error) {
    rmSync(output, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  session.printer.printLine(`written to ${output}`);
}

/** Only its owner can read the file: it has names and addresses. */
function openNew(path: string): number {
  try {
    return openSync(path, "wx", 0o600);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code === "EEXIST" ? "it exists already" : (error as Error).message;
    throw new CommandFailed(`cannot write ${path}: ${reason}`);
  }
}

async function writeOut(chunk: Uint8Array): Promise<void> {
  if (process.stdout.write(chunk)) return;
  await new Promise<void>((resolve) => process.stdout.once("drain", () => resolve()));
}

async function showEntry(session: Session, _: SessionOptions, id: string): Promise<void> {
  const notFoundMessage = `there is no entry ${id}: gatehouse audit lists them`;
  await session.call<AuditEntryResource>({ path: ["audit", id], notFoundMessage }, async (entry) => {
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
  if (target.startsWith("srv_")) return await nameResource(session, SERVERS, target);
  if (target.startsWith("per_")) return await nameResource(session, PEOPLE, target);
  return target.startsWith("key_") ? await nameResource(session, KEYS, target) : target;
}

function nameActor({ kind, id, name }: AuditEntryResource["actor"]): string {
  return kind === "master" ? "master key" : name || id;
}

function describeActor({ actor }: AuditEntryResource): string {
  const who = actor.kind === "master" ? `master key ${actor.id}` : nameActor(actor);
  return actor.address === "" ? who : `${who} at ${actor.address}`;
}

/** "label: old → new, community: -"; other details are shown as JSON. */
export function describeChange(details: unknown): string {
  return listChanges(details).join(", ") || "-";
}

/** One text for each changed field. */
function listChanges(details: unknown): string[] {
  const { before = {}, after = {}, ...others } = isObject(details) ? details : {};
  const isChange = isObject(details) && isObject(before) && isObject(after) && Object.keys(others).length === 0;
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
