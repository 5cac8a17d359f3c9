import { describe, expect, test } from "bun:test";
import { SECTIONS } from "../../core/sections.ts";
import { parseGrace, toKeyFields } from "./key-fields.ts";

const NOW = 1_800_000_000_000;

describe("the options of a key", () => {
  test("omitted options are not sent", () => {
    expect(toKeyFields({}, NOW)).toEqual({});
  });

  test("lists, in the spelling of the API", () => {
    const options = {
      versions: "v2, v1",
      sections: "players,STAFF",
      commands: ":h,:m",
      hide: "joinkey, Location",
      may: "Webhooks",
      ipAllow: "10.0.0.0/8,::1",
    };
    expect(toKeyFields(options, NOW)).toEqual({
      versions: ["v2", "v1"],
      sections: ["Players", "Staff"],
      commands: [":h", ":m"],
      hide: ["JoinKey", "Location"],
      may: ["webhooks"],
      ip_allow: ["10.0.0.0/8", "::1"],
    });
  });

  test("none, all and *", () => {
    const nothing = {
      versions: "none",
      sections: "none",
      commands: "none",
      hide: "none",
      may: "none",
      ipAllow: "none",
    };
    const lists = { versions: [], sections: [], commands: [], hide: [], may: [], ip_allow: [] };
    expect(toKeyFields(nothing, NOW)).toEqual(lists);
    expect(toKeyFields({ sections: "all", commands: "*" }, NOW)).toEqual({
      sections: SECTIONS,
      commands: ["*"],
    });
  });

  test("unknown values are sent, so that the API refuses them", () => {
    expect(toKeyFields({ sections: "Playerz" }, NOW)).toEqual({ sections: ["Playerz"] });
  });

  test("expiry: a duration from now, or never", () => {
    expect(toKeyFields({ expires: "90m" }, NOW)).toEqual({ expires_at: NOW + 90 * 60_000 });
    expect(toKeyFields({ expires: "never" }, NOW)).toEqual({ expires_at: null });
  });

  test.each([{ expires: "soon" }, { sections: "" }, { commands: " , " }, { hide: "" }, { ipAllow: "" }])(
    "%j is wrong usage",
    (options) => {
      expect(() => toKeyFields(options, NOW)).toThrow(expect.objectContaining({ exitCode: 2 }));
    },
  );

  test("a grace is a duration in seconds, none unless given", () => {
    expect([undefined, "none", "0", "45s", "2h"].map(parseGrace)).toEqual([0, 0, 0, 45, 7200]);
    expect(() => parseGrace("90")).toThrow(expect.objectContaining({ exitCode: 2 }));
  });
});
