// How people and roles are shown to an operator and asked for: lists fit a terminal, and wrong options are refused in words.
import { describe, expect, test } from "bun:test";
import { ABILITIES } from "../../core/keys/rights.ts";
import { SECTIONS } from "../../core/sections.ts";
import type { PersonResource, RoleResource } from "../../core/wire/people.ts";
import { CommandFailed } from "../exit-codes.ts";
import { printResources, type Screen } from "../terminal/fields.ts";
import { Printer } from "../terminal/printer.ts";
import { PERSON_COLUMNS, PERSON_FIELDS, parseRole, printInvitation } from "./people.ts";
import { ROLE_FIELDS, toRoleFields } from "./roles.ts";

const NOW = 1_800_000_000_000;
const SERVER_ID = "srv_5tqX0PpV3mYbL1nKcD7w";
const SERVERS = new Map([[SERVER_ID, "North Town"]]);

const PERSON: PersonResource = {
  ...{ person_id: "per_4kTq8ZbXw2LmVn6RcYs1", name: "Robin of the north", is_operator: false },
  servers: [{ server_id: SERVER_ID, role: "moderator" }],
  ...{ player_id: "1", chat_id: null, disabled: false, created_at: NOW, last_seen_at: NOW - 59_000 },
  ...{ passkeys: 1, sessions: 2 },
};

function printAt80(print: (screen: Screen) => void): string[] {
  let text = "";
  const write = (more: string) => {
    text += more;
  };
  print({ printer: new Printer({ write, width: 80, hasColours: false }), now: () => NOW });
  const lines = text.trimEnd().split("\n");
  for (const line of lines) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(80);
  return lines;
}

describe("a list", () => {
  test("of people says who they are, what they may do where, and when they were seen", () => {
    const people = [
      PERSON,
      { ...PERSON, name: "Ann", is_operator: true, servers: [], sessions: 0, last_seen_at: null },
      { ...PERSON, name: "Bob", servers: [], disabled: true, sessions: 0 },
    ];
    const [head, ...rows] = printAt80((screen) =>
      printResources(screen, PERSON_FIELDS, people, PERSON_COLUMNS, SERVERS),
    );
    expect(head).toMatch(/^NAME +ROLES +STATE +LAST SEEN +SESSIONS$/);
    expect(rows[0]).toMatch(/^Robin.* +North Town.* +signed in +59s ago +2$/);
    expect(rows[1]).toMatch(/^Ann +operator: \S+ +never signed in +never +0$/);
    expect(rows[2]).toMatch(/^Bob +none +disabled +59s ago +0$/);
  });

  test("of roles says what each may do", () => {
    const role: RoleResource = {
      ...{ name: "trial", title: "Trial moderator", sections: [...SECTIONS], hide: ["JoinKey"] },
      ...{ commands: [":h"], may: ["claim"] },
    };
    const all: RoleResource = { ...role, name: "manager", hide: [], commands: ["*"], may: [...ABILITIES] };
    const [head, first, second] = printAt80((screen) => printResources(screen, ROLE_FIELDS, [role, all]));
    expect(head).toMatch(/^ROLE +TITLE +SECTIONS +HIDDEN +COMMANDS +MAY$/);
    expect(first).toMatch(/^trial +Trial moderator +all +JoinKey +:h +claim$/);
    expect(second).toMatch(/^manager +Trial moderator +all +nothing +all +all$/);
  });
});

describe("a role on a server", () => {
  test.each([
    ["North Town=moderator", { server: "North Town", role: "moderator" }],
    ["a=b = trial", { server: "a=b", role: "trial" }],
    ["head", { server: undefined, role: "head" }],
    ["North Town=none", { server: "North Town", role: "none" }],
  ])("%s", (text, expected) => {
    expect(parseRole(text)).toEqual(expected);
  });

  test.each(["", "=", "=trial", "North Town="])("%j is refused", (text) => {
    expect(() => parseRole(text)).toThrow(CommandFailed);
  });
});

describe("an invitation", () => {
  const show = (host: string) =>
    printAt80((screen) => {
      const url = `${host}/#/invitation/gti_x`;
      printInvitation(screen.printer, { url, expires_at: NOW + 86_400_000 }, NOW);
    }).join(" ");

  test("is a link, with its end", () => {
    const text = show("https://gatehouse.example.org");
    expect(text).toContain("https://gatehouse.example.org/#/invitation/gti_x");
    expect(text).toContain("(in 24 hours)");
    expect(text).not.toContain("GATEHOUSE_PUBLIC_URL");
  });

  test.each(["http://127.0.0.1:8080", "http://localhost:8080", "http://[::1]:8080"])(
    "to %s says that a phone cannot open it",
    (host) => expect(show(host)).toContain("GATEHOUSE_PUBLIC_URL"),
  );
});

test("the options of a role become its fields, in the API's spelling", () => {
  expect(toRoleFields({ sections: "players,Queue", hide: "joinkey", commands: "none", may: "Claim,notes" })).toEqual({
    sections: ["Players", "Queue"],
    hide: ["JoinKey"],
    commands: [],
    may: ["claim", "notes"],
  });
  expect(toRoleFields({ may: "all" })).toEqual({ may: ABILITIES });
  expect(() => toRoleFields({ may: "" })).toThrow(CommandFailed);
});
