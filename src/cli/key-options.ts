// Turns the options that describe a key into fields of the admin API.
import type { Command } from "commander";
import { SECTIONS } from "../core/sections.ts";
import type { KeyUpdate } from "../core/wire/key.ts";
import { failUsage } from "./exit-codes.ts";
import { parseDuration, parseMoment } from "./times.ts";

export type KeyOptions = {
  readonly label?: string;
  readonly versions?: string;
  readonly sections?: string;
  readonly commands?: string;
  readonly ipAllow?: string;
  readonly expires?: string;
};

export function addKeyOptions(command: Command): Command {
  return command
    .option("--label <text>", "what the key is for, in your words")
    .option("--versions <list>", "API versions: v2,v1 or none")
    .option("--sections <list>", "sections it may read: Players,Staff,…, all or none")
    .option("--commands <list>", 'commands it may send: h,m (or ":h,:m"), "*" for all, or none')
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

function parseSectionList(text: string): readonly string[] {
  if (text === "all") return SECTIONS;
  const names = parseList("--sections", text);
  return names.map((given) => SECTIONS.find((name) => name.toLowerCase() === given.toLowerCase()) ?? given);
}

function parseList(option: string, text: string): string[] {
  if (text === "none") return [];
  const entries = text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
  // An empty variable in a script must not remove all rights, or all restrictions.
  if (entries.length === 0) failUsage(`${option} is empty: write none if that is meant`);
  return entries;
}
