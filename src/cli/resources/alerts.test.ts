import { describe, expect, test } from "bun:test";
import { SUGGESTED_ALERTS } from "../../core/alerts/rules.ts";
import { mergeRules, parseKills, parseMinutes, parsePatterns, parsePlayers } from "./alerts.ts";

describe("the options of alerts set", () => {
  test("say the rules", () => {
    expect(parseKills("5/60")).toEqual({ count: 5, seconds: 60 });
    expect(parsePatterns(":ban all, :kick all")).toEqual({ patterns: [":ban all", ":kick all"] });
    expect(parseMinutes("10")).toEqual({ minutes: 10 });
    expect(parsePlayers("below 5 for 30")).toEqual({ below: 5, minutes: 30 });
    expect(parsePlayers("above  38 for 10")).toEqual({ above: 38, minutes: 10 });
    expect(parsePlayers("below 5 above 38 for 1")).toEqual({ below: 5, above: 38, minutes: 1 });
  });

  test.each([
    [parseKills, "5"],
    [parseKills, "5/60/3"],
    [parseMinutes, "ten"],
    [parseMinutes, "-1"],
    [parsePlayers, "for 30"],
    [parsePlayers, "below 5"],
  ])("%p refuses %p", (parse, text) => {
    expect(() => parse(text)).toThrow("expected");
  });

  test("change only the rules that are given, and off switches one off", () => {
    const { offline: _, ...rest } = SUGGESTED_ALERTS;
    expect(mergeRules(SUGGESTED_ALERTS, { offline: "off", kills: undefined, players: "off" })).toEqual(rest);
    const kills = { count: 3, seconds: 10 };
    expect(mergeRules({}, { kills })).toEqual({ kills });
  });
});
