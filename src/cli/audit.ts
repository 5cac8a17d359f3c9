// gatehouse audit: who changed what, newest first.
import { Command } from "commander";
import type { AuditEntryResource } from "../core/wire/audit.ts";
import {
  addSessionOptions,
  listAndShow,
  openSession,
  parseLimit,
  ROWS_DEFAULT,
  type SessionOptions,
} from "./session.ts";
import { formatMoment } from "./times.ts";

export function createAuditCommand(): Command {
  return addSessionOptions(
    new Command("audit")
      .description("show who changed what, newest first")
      .option("--limit <number>", `show at most this many (tables: ${ROWS_DEFAULT}, --json: all)`, parseLimit)
      .action(showAudit),
  );
}

async function showAudit(options: SessionOptions & { readonly limit?: number }): Promise<void> {
  const session = await openSession(options);
  const limit = options.limit ?? (session.wantsJson ? undefined : ROWS_DEFAULT);
  await listAndShow<AuditEntryResource>(session, { path: ["audit"] }, limit, ({ items }) => {
    if (items.length === 0) return session.printer.printLine("nothing was changed yet");
    session.printer.printTable(
      [
        { title: "TIME", isWhole: true },
        { title: "ACTION", isWhole: true },
        { title: "TARGET", isWhole: true },
        { title: "CHANGE" },
        { title: "BY" },
      ],
      items.map((entry) => [
        formatMoment(entry.at),
        entry.action,
        entry.target,
        describeChange(entry.details),
        `${entry.actor.fingerprint} ${entry.actor.address}`,
      ]),
    );
  });
}

/** "label: old → new, community: -"; other details are shown as JSON. */
export function describeChange(details: unknown): string {
  const { before = {}, after = {}, ...others } = isObject(details) ? details : {};
  const isChange =
    isObject(details) && isObject(before) && isObject(after) && Object.keys(others).length === 0;
  if (!isChange) return toWords(details);
  const fields = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changes = Array.from(fields, (field) => {
    const [was, is] = [before[field], after[field]].map(toWords);
    if (!(field in before)) return `${field}: ${is}`;
    return field in after ? `${field}: ${was} → ${is}` : `${field}: was ${was}`;
  });
  return changes.join(", ") || "-";
}

function toWords(value: unknown): string {
  if (value === null || value === undefined) return "-";
  if (Array.isArray(value)) return `[${value.map(toWords).join(" ")}]`;
  return typeof value === "string" ? value : JSON.stringify(value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
