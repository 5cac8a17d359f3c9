// How servers are shown to an operator: everything fits a terminal of 80 columns, ids are whole, errors are told.
import { expect, test } from "bun:test";
import type { ServerResource } from "../../core/wire/server.ts";
import { Printer } from "../terminal/printer.ts";
import { parseStatusOptions, printServer, printServers } from "./servers.ts";

const NOW = 1_800_000_000_000;
const ID = "srv_5tqX0PpV3mYbL1nKcD7w";

const SERVER: ServerResource = {
  ...{ server_id: ID, name: "Cedar County State Roleplay, the second one", community: null },
  ...{
    created_at: NOW - 86_400_000,
    simulated: false,
    watch: true,
    public_status: null,
    owners_sign_in: false,
    state: "key_refused",
    players: 39,
  },
  ...{ max_players: 40, queue: 2, open_modcalls: 1, open_calls: 3 },
  last_read_at: NOW - 45 * 60_000,
  last_error: {
    at: NOW - 300_000,
    upstream_code: 2002,
    upstream_message: `You provided an invalid server-key.${" Ask for a new one.".repeat(8)}`,
  },
  watching: { state: "watching", interval_ms: 5_000, last_reading_at: NOW - 45 * 60_000, reason: null },
};

function show(print: (screen: { printer: Printer; now: () => number }) => void): string[] {
  let text = "";
  const write = (more: string) => {
    text += more;
  };
  print({ printer: new Printer({ write, width: 80, hasColours: false }), now: () => NOW });
  return text.trimEnd().split("\n");
}

test("a list has a row for each server with its state, players and last reading, and tells errors below", () => {
  const well: ServerResource = { ...SERVER, name: "Oak", state: "online", last_error: null };
  const asked: ServerResource = {
    ...well,
    name: "Elm",
    state: "not_asked",
    players: null,
    last_read_at: null,
  };
  const lines = show((screen) => printServers(screen, [SERVER, well, asked], true));
  expect(lines.every((line) => Bun.stringWidth(line) <= 80)).toBe(true);
  expect(lines[0]).toMatch(/^SERVER +NAME +STATE +PLAYERS +LAST READ$/);
  expect(lines[1]).toMatch(new RegExp(`^${ID} +Cedar.*… +key refused +39 +45 minutes ago$`));
  expect(lines[2]).toMatch(new RegExp(`^${ID} +Oak +online +39 +45 minutes ago$`));
  expect(lines[3]).toMatch(new RegExp(`^${ID} +Elm +not asked +- +never$`));
  expect(lines.slice(4).join(" ")).toMatch(/Cedar.* +You provided an invalid server-key\..*\(2002\), 5 minutes ago/);
});

test("a list tells which servers are not watched", () => {
  const lines = show((screen) => printServers(screen, [{ ...SERVER, last_error: null, watch: false }]));
  expect(lines.at(-1)).toMatch(/^Cedar.* +is not watched$/);
  const all = show((screen) => printServers(screen, [{ ...SERVER, last_error: null }]));
  expect(all.join()).not.toContain("watched");
});

test.each<[ServerResource["watching"], string]>([
  [{ state: "watching", interval_ms: 5_000, last_reading_at: NOW, reason: null }, "every 5 s"],
  [{ state: "watching", interval_ms: 7_501, last_reading_at: NOW, reason: null }, "every 7.5 s"],
  [{ state: "paused", interval_ms: 5_000, last_reading_at: NOW, reason: "A reason." }, "paused: A reason."],
  [{ state: "off", interval_ms: null, last_reading_at: NOW, reason: "A reason." }, "off: A reason."],
])("one server is shown with how it is watched: %j", (watching, words) => {
  const lines = show((screen) => printServer(screen, { ...SERVER, watching }));
  expect(lines.find((line) => line.startsWith("watching"))?.replace(/^watching +/, "")).toBe(words);
});

test("one server is shown field by field, and a parked one with the reason", () => {
  const lines = show((screen) => printServer(screen, { ...SERVER, state: "parked" }));
  expect(lines.every((line) => Bun.stringWidth(line) <= 80)).toBe(true);
  expect(lines.join("\n")).toMatch(/^state +parked$/m);
  expect(lines.join("\n")).toMatch(/^made for +a real game API$/m);
  expect(lines.join("\n")).toMatch(/^last error +You provided an invalid server-key\./m);
  expect(lines.at(-1)).toContain("parked: the built-in simulator is in use");
});

test("one server is shown with what everybody may see of it", () => {
  const lineOf = (public_status: ServerResource["public_status"]) =>
    show((screen) => printServer(screen, { ...SERVER, public_status })).find((line) =>
      line.startsWith("public status"),
    );
  expect(lineOf(null)).toMatch(/ off$/);
  expect(lineOf({ slug: "cedar", show_join_key: false })).toMatch(/ \/status\/cedar$/);
  expect(lineOf({ slug: "cedar", show_join_key: true })).toMatch(/ \/status\/cedar, with the join key$/);
});

test("the join key is public only when the same command says so", () => {
  expect(parseStatusOptions({})).toEqual({});
  expect(parseStatusOptions({ publicStatus: "off" })).toEqual({ public_status: null });
  expect(parseStatusOptions({ publicStatus: "cedar" })).toEqual({
    public_status: { slug: "cedar", show_join_key: false },
  });
  expect(parseStatusOptions({ publicStatus: "cedar", statusJoinKey: true })).toEqual({
    public_status: { slug: "cedar", show_join_key: true },
  });
  expect(() => parseStatusOptions({ publicStatus: "off", statusJoinKey: true })).toThrow("--public-status");
  expect(() => parseStatusOptions({ statusJoinKey: true })).toThrow("--public-status");
});
