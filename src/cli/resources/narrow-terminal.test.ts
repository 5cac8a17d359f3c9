// The lists in a terminal of 80 columns: a line for each item, and names that can still be recognised.
import { expect, test } from "bun:test";
import { DAY_MS } from "../../core/durations.ts";
import type { AuditEntryResource } from "../../core/wire/audit.ts";
import type { OwnedCommandResource } from "../../core/wire/command.ts";
import type { KeyResource } from "../../core/wire/key.ts";
import { printResources } from "../terminal/fields.ts";
import { Printer } from "../terminal/printer.ts";
import { AUDIT_COLUMNS, AUDIT_FIELDS } from "./audit.ts";
import { COMMAND_COLUMNS, COMMAND_FIELDS } from "./commands.ts";
import { KEY_COLUMNS, KEY_FIELDS } from "./key-fields.ts";

const NOW = 1_800_000_000_000;
const SERVER_ID = "srv_5tqX0PpV3mYbL1nKcD7w";
const SERVERS = new Map([[SERVER_ID, "North Town Roleplay"]]);

const KEY: KeyResource = {
  ...{ key_id: "key_0Ka4qbuWLQDNnkIAG3EZ", server_id: SERVER_ID, label: "the moderators' bot" },
  ...{ state: "suspended", suspended: true, versions: ["v2"], sections: [], commands: [], hide: [] },
  ...{ may: [], ip_allow: [] },
  ...{ expires_at: NOW + 90 * DAY_MS, created_at: NOW, last_used_at: NOW - 59_000, revoked_at: null },
};

const COMMAND: OwnedCommandResource = {
  ...{ command_id: "cmd_zRH77T5ZugEUB3g6rBBK", server_id: SERVER_ID, key_id: KEY.key_id },
  ...{ key_label: KEY.label, sent_by: { kind: "key", id: KEY.key_id, name: KEY.label }, command: ":h hi" },
  ...{ status: "queued", position: 100, queued_at: NOW - 59_000, sent_at: null, finished_at: null },
  ...{ confirmed_at: null, upstream_code: null, upstream_message: null },
};

const ENTRY: AuditEntryResource = {
  ...{ id: "aud_zzz", at: NOW, action: "command.cancelled", target: SERVER_ID },
  ...{ actor: { kind: "master", id: "0a1b2c3d", name: "master key", address: "2001:db8::1234:5678" } },
  details: { before: { label: "old" }, after: { label: "new" } },
};

function printAt80(print: (screen: { printer: Printer; now: () => number }) => void): string[] {
  let printed = "";
  const write = (text: string) => {
    printed += text;
  };
  print({ printer: new Printer({ write, width: 80, hasColours: false }), now: () => NOW });
  const lines = printed.trimEnd().split("\n");
  for (const line of lines) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(80);
  return lines;
}

test("keys: label, server, state and times are whole", () => {
  const [head, row] = printAt80((screen) => printResources(screen, KEY_FIELDS, [KEY], KEY_COLUMNS, SERVERS));
  expect(head).toMatch(/^LABEL +SERVER +STATE +EXPIRES +LAST USED$/);
  expect(row).toMatch(/^the moderators' bot +North Town Roleplay +suspended +in 90d +59s ago$/);
});

test("keys with their ids: the id is whole, and label and server are recognisable", () => {
  const [, row] = printAt80((screen) => printResources(screen, KEY_FIELDS, [KEY], ["key", ...KEY_COLUMNS], SERVERS));
  expect(row).toMatch(new RegExp(`^${KEY.key_id} +the mod\\S*.*… +North.*… +suspended +in 90d +59s ago$`));
});

test("commands: server, sender and command are whole; with their ids they can be recognised", () => {
  const print = (columns: readonly string[]) =>
    printAt80((screen) => printResources(screen, COMMAND_FIELDS, [COMMAND], columns, SERVERS));
  const [head, row] = print(COMMAND_COLUMNS);
  expect(head).toMatch(/^STATUS +QUEUED +SERVER +BY +COMMAND$/);
  expect(row).toMatch(/^queued #100 +59s ago +North Town Roleplay +the moderators' bot +:h hi$/);
  const [, withId] = print(["command id", ...COMMAND_COLUMNS]);
  expect(withId).toMatch(/^cmd_zRH77T5ZugEUB3g6rBBK +queued #100 +59s ago +North.*… +the mod.*… +:h hi$/);
});

test("audit: when, who, what and the target's name; what was changed is left to audit show", () => {
  const [head, row] = printAt80((screen) => printResources(screen, AUDIT_FIELDS, [ENTRY], AUDIT_COLUMNS, SERVERS));
  expect(head).toMatch(/^TIME +BY +ACTION +TARGET$/);
  expect(row).toMatch(/^2027-01-15 \d\d:\d\d +master key +command\.cancelled +North Town Roleplay$/);
});
