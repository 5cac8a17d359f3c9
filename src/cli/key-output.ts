// How a key is printed: its state, its rights, and its usage with the last 24 hours as bars.
import { HOUR_MS } from "../core/durations.ts";
import type { KeyState } from "../core/key-state.ts";
import { SECTIONS } from "../core/sections.ts";
import type { KeyResource, KeyWithUsage, UsageResource, UsedHour } from "../core/wire/key.ts";
import type { Names } from "./find-names.ts";
import type { Cell, Colour, Field } from "./printer.ts";
import type { Session } from "./session.ts";
import type { Column } from "./table-layout.ts";
import { formatMoment, formatRelativeTime, formatShortTime } from "./times.ts";

const HOURS_SHOWN = 24;
const BARS = "▁▂▃▄▅▆▇█";

const COLOUR_OF_STATE: Readonly<Record<KeyState, Colour>> = {
  active: "green",
  suspended: "yellow",
  blocked: "yellow",
  expired: "red",
  revoked: "red",
};

const KEY_COLUMNS: readonly Column[] = [
  { title: "LABEL" },
  { title: "SERVER" },
  { title: "STATE", isWhole: true },
  { title: "EXPIRES", isWhole: true },
  { title: "LAST USED", isWhole: true },
];
const ID_COLUMN: Column = { title: "KEY", isWhole: true };

/** The ids are wider than anything else, so they are printed on request only. */
export function printKeys(
  { printer, now }: Pick<Session, "printer" | "now">,
  keys: readonly KeyResource[],
  servers: Names,
  showsIds: boolean,
): void {
  const rows = keys.map((key) => {
    const row = toKeyRow(key, servers, now());
    return showsIds ? [key.key_id, ...row] : row;
  });
  printer.printTable(showsIds ? [ID_COLUMN, ...KEY_COLUMNS] : KEY_COLUMNS, rows);
}

function toKeyRow(key: KeyResource, servers: Names, now: number): readonly Cell[] {
  return [
    key.label,
    servers.get(key.server_id) ?? key.server_id,
    describeState(key),
    key.expires_at === null ? "never" : formatShortTime(key.expires_at, now),
    key.last_used_at === null ? "never" : formatShortTime(key.last_used_at, now),
  ];
}

/** `server` is its name and id. */
export function toKeyFieldList(key: KeyResource, server: string, now: number): readonly Field[] {
  const fields: Field[] = [
    ["key", key.key_id],
    ["label", key.label],
    ["server", server],
    ["state", describeState(key)],
    ["versions", listOr(key.versions, "none")],
    ["sections", key.sections.length === SECTIONS.length ? "all" : listOr(key.sections, "none")],
    ["commands", key.commands.includes("*") ? "all" : listOr(key.commands, "none")],
    ["addresses", listOr(key.ip_allow, "any")],
    ["expires", describeMoment(key.expires_at, now)],
    ["created", describeMoment(key.created_at, now)],
    ["last used", describeMoment(key.last_used_at, now)],
  ];
  if (key.revoked_at !== null) fields.push(["revoked", describeMoment(key.revoked_at, now)]);
  return fields;
}

export function toGraceFieldList(tokens: KeyWithUsage["grace_tokens"], now: number): readonly Field[] {
  return tokens.map(({ valid_until }) => ["old token until", describeMoment(valid_until, now)]);
}

export function toUsageFieldList(usage: UsageResource, now: number): readonly Field[] {
  const refusals = Object.entries(usage.refusals).map(([code, count]) => `${code} × ${count}`);
  const recent = listRecentHours(usage.hours, now);
  const total = recent.reduce((sum, requests) => sum + requests, 0);
  return [
    ["requests", String(usage.requests)],
    ["refusals", listOr(refusals, "none")],
    ["last 24 hours", `${drawBars(recent)}  ${total}`],
  ];
}

/** The requests of each of the last 24 hours, the current hour last. */
export function listRecentHours(
  hours: readonly Pick<UsedHour, "hour" | "requests">[],
  now: number,
): number[] {
  const current = Math.floor(now / HOUR_MS);
  const recent = new Array<number>(HOURS_SHOWN).fill(0);
  for (const { hour, requests } of hours) {
    const index = HOURS_SHOWN - 1 - (current - Math.floor(hour / HOUR_MS));
    if (index >= 0 && index < HOURS_SHOWN) recent[index] = (recent[index] ?? 0) + requests;
  }
  return recent;
}

/** One character for each number: a dot for 0, otherwise a bar relative to the largest number. */
export function drawBars(numbers: readonly number[]): string {
  const largest = Math.max(...numbers);
  const draw = (number: number) => BARS[Math.ceil((number / largest) * BARS.length) - 1] ?? "·";
  return numbers.map((number) => (number > 0 ? draw(number) : "·")).join("");
}

function describeState({ state }: KeyResource): Cell {
  return { text: state, colour: COLOUR_OF_STATE[state] };
}

function describeMoment(moment: number | null, now: number): string {
  return moment === null ? "never" : `${formatMoment(moment)} (${formatRelativeTime(moment, now)})`;
}

function listOr(items: readonly string[], none: string): string {
  return items.length === 0 ? none : items.join(", ");
}
