// The fields of a key: how each is printed, with its usage of the last 24 hours as bars, and the option that sets it.
import type { Command } from "commander";
import { HOUR_MS } from "../../core/durations.ts";
import type { KeyState } from "../../core/keys/key-state.ts";
import { HIDEABLE_FIELDS, KEY_ABILITIES } from "../../core/keys/rights.ts";
import { SECTIONS } from "../../core/sections.ts";
import type { KeyResource, KeyUpdate, KeyWithUsage, UsageResource, UsedHour } from "../../core/wire/key.ts";
import { failUsage } from "../exit-codes.ts";
import { listOr, type ResourceField, showMoment } from "../terminal/fields.ts";
import type { Colour, Field } from "../terminal/printer.ts";
import { parseDuration, parseMoment } from "../terminal/times.ts";

const COLOUR_OF_STATE: Readonly<Record<KeyState, Colour>> = {
  active: "green",
  suspended: "yellow",
  blocked: "yellow",
  expired: "red",
  revoked: "red",
};

export const KEY_FIELDS: readonly ResourceField<KeyResource>[] = [
  { name: "key", show: ({ key_id }) => key_id, isWhole: true },
  { name: "label", show: ({ label }) => label },
  { name: "server", show: ({ server_id }, { nameOf }) => nameOf(server_id) },
  { name: "state", show: ({ state }) => ({ text: state, colour: COLOUR_OF_STATE[state] }), isWhole: true },
  { name: "versions", show: ({ versions }) => listOr(versions, "none") },
  {
    name: "sections",
    show: ({ sections }) => (sections.length === SECTIONS.length ? "all" : listOr(sections, "none")),
  },
  { name: "commands", show: ({ commands }) => (commands.includes("*") ? "all" : listOr(commands, "none")) },
  { name: "hidden", show: ({ hide }) => listOr(hide, "nothing") },
  { name: "may", show: ({ may }) => listOr(may, "nothing else") },
  { name: "addresses", show: ({ ip_allow }) => listOr(ip_allow, "any") },
  { name: "expires", show: ({ expires_at }, look) => showMoment(expires_at, look), isWhole: true },
  { name: "created", show: ({ created_at }, look) => showMoment(created_at, look) },
  { name: "last used", show: ({ last_used_at }, look) => showMoment(last_used_at, look), isWhole: true },
  { name: "revoked", show: ({ revoked_at }, look) => (revoked_at === null ? null : showMoment(revoked_at, look)) },
];
/** The ids are wider than anything else, so they are printed on request only. */
export const KEY_COLUMNS = ["label", "server", "state", "expires", "last used"];

export type KeyOptions = {
  readonly [Name in "label" | "versions" | "sections" | "commands" | "hide" | "may" | "ipAllow" | "expires"]?: string;
};

export function addKeyOptions(command: Command): Command {
  return command
    .option("--label <text>", "what the key is for, in your words")
    .option("--versions <list>", "API versions: v2,v1 or none")
    .option("--sections <list>", "sections it may read: Players,Staff,…, all or none")
    .option("--commands <list>", 'commands it may send: h,m (or ":h,:m"), "*" for all, or none')
    .option("--hide <list>", "what it does not get: JoinKey,Location, or none")
    .option("--may <list>", "what it may do besides: webhooks (those of its server), or none")
    .option("--ip-allow <list>", "addresses it may come from: 10.0.0.0/8,::1, or none for anywhere")
    .option("--expires <when>", "30d, 12h, 90m, a date (2027-01-31, 2027-01-31T18:00Z), epoch ms, or never");
}

/** The fields of a key as the operator typed them; the admin API checks their values. */
export type UncheckedKeyFields = { -readonly [Name in keyof KeyUpdate]?: unknown };

/** Only the fields that were given. */
export function toKeyFields(options: KeyOptions, now: number): UncheckedKeyFields {
  const fields: UncheckedKeyFields = {};
  if (options.label !== undefined) fields.label = options.label;
  if (options.versions !== undefined) fields.versions = parseList("--versions", options.versions);
  if (options.sections !== undefined) fields.sections = parseSectionList(options.sections);
  if (options.commands !== undefined) fields.commands = parseList("--commands", options.commands);
  if (options.hide !== undefined) fields.hide = matchNames(HIDEABLE_FIELDS, parseList("--hide", options.hide));
  if (options.may !== undefined) fields.may = matchNames(KEY_ABILITIES, parseList("--may", options.may));
  if (options.ipAllow !== undefined) fields.ip_allow = parseList("--ip-allow", options.ipAllow);
  if (options.expires !== undefined) fields.expires_at = parseExpiry(options.expires, now);
  return fields;
}

/** In whole seconds; 0 when it is left out or "none". */
export function parseGrace(text: string | undefined): number {
  if (text === undefined || text === "none" || text === "0") return 0;
  const durationMs = parseDuration(text);
  if (durationMs === undefined) failUsage("--grace must be a duration like 30d, 12h, 90m or 45s, or none");
  return durationMs / 1000;
}

function parseExpiry(text: string, now: number): number | null {
  if (text === "never") return null;
  const moment = parseMoment(text, now);
  if (moment === undefined) {
    failUsage(
      "--expires must be a duration (30d, 12h, 90m), a date (2027-01-31, 2027-01-31T18:00Z), epoch ms or never",
    );
  }
  return moment;
}

export function parseSectionList(text: string): readonly string[] {
  return text === "all" ? SECTIONS : matchNames(SECTIONS, parseList("--sections", text));
}

/** In the case in which the API writes them. Others are left for it to refuse. */
export function matchNames(known: readonly string[], given: readonly string[]): string[] {
  return given.map((one) => known.find((name) => name.toLowerCase() === one.toLowerCase()) ?? one);
}

export function parseList(option: string, text: string): string[] {
  if (text === "none") return [];
  const entries = text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
  // An empty variable in a script must not remove all rights, or all restrictions.
  if (entries.length === 0) failUsage(`${option} is empty: write none if that is meant`);
  return entries;
}

const HOURS_SHOWN = 24;
const BARS = "▁▂▃▄▅▆▇█";

export function toGraceFieldList(tokens: KeyWithUsage["grace_tokens"], now: number): readonly Field[] {
  return tokens.map(({ valid_until }) => ["old token until", showMoment(valid_until, { now, isTable: false })]);
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
export function listRecentHours(hours: readonly Pick<UsedHour, "hour" | "requests">[], now: number): number[] {
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
