import { expect, test } from "bun:test";
import Schema from "typebox/schema";
import { type AlertRules, findRuleProblems, NO_ALERTS, SUGGESTED_ALERTS } from "../../../../core/alerts/rules.ts";
import { AlertRulesResource } from "../../../../core/wire/alerts.ts";
import { NUMBER_FIELDS, parseAlertTexts, writeAlertTexts } from "./alerts-form.tsx";

const ALL: AlertRules = { ...SUGGESTED_ALERTS, players: { below: 5, above: 30, minutes: 10 } };
const check = Schema.Compile(AlertRulesResource);

test("rules come back as they were, and the suggested ones can be set as they are", () => {
  for (const rules of [NO_ALERTS, SUGGESTED_ALERTS, ALL, { players: { above: 0, minutes: 1 } }]) {
    expect(parseAlertTexts(writeAlertTexts(rules, SUGGESTED_ALERTS))).toEqual({
      rules: rules as AlertRulesResource,
      problems: {},
    });
  }
});

test("a rule that is switched on has suggested values", () => {
  const texts = writeAlertTexts(NO_ALERTS, SUGGESTED_ALERTS);
  expect(parseAlertTexts({ ...texts, on: ["offline"] }).rules).toEqual({
    offline: SUGGESTED_ALERTS.offline,
  });
});

test("values that Gatehouse would refuse are named before they are sent", () => {
  const texts = writeAlertTexts(ALL, SUGGESTED_ALERTS);
  const problemsWith = (fields: Readonly<Record<string, string>>) =>
    Object.keys(parseAlertTexts({ ...texts, fields: { ...texts.fields, ...fields } }).problems);
  expect(problemsWith({ "kills.count": "1" })).toEqual(["kills.count"]);
  expect(problemsWith({ "offline.minutes": "a day", "kills.seconds": "" })).toEqual([
    "kills.seconds",
    "offline.minutes",
  ]);
  expect(problemsWith({ "mass_command.patterns": " \n\n" })).toEqual(["mass_command.patterns"]);
  expect(problemsWith({ "players.below": "", "players.above": " " })).toEqual(["players.below"]);
  expect(problemsWith({ "players.below": "31" })).toEqual(["players.below"]);
  expect(problemsWith({ "players.below": "" })).toEqual([]);
});

test("the ends of each field are those of Gatehouse", () => {
  const texts = writeAlertTexts(ALL, SUGGESTED_ALERTS);
  for (const [rule, fields] of Object.entries(NUMBER_FIELDS)) {
    for (const [field, ends] of Object.entries<readonly [number, number]>(fields)) {
      for (const [value, isGood] of [
        [ends[0], true],
        [ends[0] - 1, false],
        [ends[1], true],
        [ends[1] + 1, false],
      ] as const) {
        const on = [rule as keyof typeof NUMBER_FIELDS];
        const other = field === "below" ? { "players.above": "" } : { "players.below": "" };
        const changed = { ...texts.fields, ...other, [`${rule}.${field}`]: String(value) };
        const { rules, problems } = parseAlertTexts({ on, fields: changed });
        const sent = { [rule]: { ...rules[rule as "kills"], [field]: value } };
        expect([rule, field, value, Object.keys(problems).length === 0]).toEqual([rule, field, value, isGood]);
        expect([rule, field, value, check.Check(sent)]).toEqual([rule, field, value, isGood]);
        if (isGood) expect(findRuleProblems(sent as AlertRules)).toEqual({});
      }
    }
  }
});
