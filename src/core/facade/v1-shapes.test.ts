import { describe, expect, test } from "bun:test";
import type { ServerParts } from "../ports/upstream.ts";
import { SECTIONS } from "../sections.ts";
import { fillKillers, writeEmptySection, writeV1 } from "./v1-shapes.ts";

const BIG = "1234567890123456789";
const SECTION_TEXTS: Readonly<Record<string, string>> = {
  Players: `[{"Team":"Police","Player":"A:${BIG}","Callsign":null,"Location":{"LocationX":1.0},"Permission":"Normal","WantedStars":2}]`,
  Staff: '{"Admins":{"54":"Somebody"},"Mods":{},"Helpers":{}}',
  Queue: `[${BIG}]`,
  KillLogs: '[{"Killed":"A:1","Timestamp":5}]',
  Vehicles: '[{"Name":"Van","Owner":"A","ColorHex":"#fff","Plate":"X"}]',
};
const PARTS: ServerParts = {
  base: `{"Name":"Town","OwnerId":${BIG},"CoOwnerIds":[${BIG},2],"CurrentPlayers":1,"MaxPlayers":40,"JoinKey":"J","AccVerifiedReq":"Disabled","TeamBalance":true,"New":1`,
  sections: SECTIONS.map((name) => SECTION_TEXTS[name] ?? "[]"),
  misfits: 0,
};

describe("the shapes of version 1", () => {
  test("server has the eight fields, with exact numbers", () => {
    expect(writeV1(PARTS, "server")).toBe(`${PARTS.base.replace(',"New":1', "")}}`);
  });

  test.each([
    ["players", `[{"Player":"A:${BIG}","Permission":"Normal","Callsign":null,"Team":"Police"}]`],
    ["staff", `{"CoOwners":[${BIG},2],"Admins":{"54":"Somebody"},"Mods":{},"Helpers":{}}`],
    ["queue", `[${BIG}]`],
    ["vehicles", '[{"Name":"Van","Owner":"A"}]'],
    ["killlogs", '[{"Killed":"A:1","Timestamp":5,"Killer":""}]'],
    ["joinlogs", "[]"],
    ["commandlogs", "[]"],
    ["modcalls", "[]"],
  ] as const)("%s", (resource, text) => {
    expect(writeV1(PARTS, resource)).toBe(text);
  });

  test("kills that all have a killer are sent unchanged", () => {
    const text = '[{"Killed":"A:1","Timestamp":5.0,"Killer":"B:2"}]';
    expect(fillKillers(text)).toBe(text);
  });

  test("a section that may not be read is empty", () => {
    expect(SECTIONS.map(writeEmptySection).filter((text) => text !== "[]")).toEqual([
      '{"Admins":{},"Mods":{},"Helpers":{}}',
    ]);
  });
});
