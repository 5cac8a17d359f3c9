// The query of the events endpoints: what it means, and what is refused with which words.
import { describe, expect, test } from "bun:test";
import { timeProcessor } from "../../../test/processor-time.ts";
import { isRefusal } from "../../core/errors.ts";
import { writeCursor } from "../../core/events/cursor.ts";
import { filterAll, toEventKind } from "../../core/events/event-types.ts";
import { READS_ALL } from "../../core/keys/api-key.ts";
import { ALL_SECTIONS, toSectionSet } from "../../core/sections.ts";
import { parseEventQuery, parseStreamQuery } from "./event-query.ts";

const PLACE = { number: 7, mark: 3 };
const CURSOR = writeCursor("srv_a", PLACE);

function parse(query: string, sections = ALL_SECTIONS) {
  return parseEventQuery(new URLSearchParams(query), "srv_a", { sections, hide: 0 });
}

function refusalOf(query: string, sections = ALL_SECTIONS) {
  const parsed = parse(query, sections);
  if (!isRefusal(parsed)) throw new Error(`${query} is accepted`);
  return [parsed.refused.code, parsed.fields?.details] as const;
}

describe("a query", () => {
  test("without parameters asks for the newest hundred of every type", () => {
    expect(parse("")).toEqual({
      query: { serverId: "srv_a", start: "newest", filter: filterAll(), hide: 0, player: undefined, limit: 100 },
      waitMs: 0,
    });
  });

  test.each([
    ["after=earliest", { start: { after: "earliest" } }],
    ["after=now", { start: { after: "now" } }],
    [`after=${CURSOR}`, { start: { after: PLACE } }],
    [`before=${CURSOR}`, { start: { before: PLACE } }],
    ["before=now", { start: { before: "now" } }],
    ["at=1794722400000", { start: { seenUntil: 1_794_722_400_000 } }],
    ["limit=500", { limit: 500 }],
    ["limit=1", { limit: 1 }],
    ["player=12345678901234567890", { player: "12345678901234567890" }],
    ["Players=true&Staff=nonsense&x=1", { start: "newest", limit: 100 }],
  ])("%s", (text, expected) => {
    expect(parse(text)).toMatchObject({ query: expected });
  });

  test("waits in whole seconds, up to 25", () => {
    expect(parse("wait=25")).toMatchObject({ waitMs: 25_000 });
    expect(parse("wait=0&before=now")).toMatchObject({ waitMs: 0 });
  });

  test("with types asks for these, and for the gaps that concern them", () => {
    const parsed = parse("types=player.killed");
    if (isRefusal(parsed)) throw new Error("refused");
    expect(parsed.query.filter).toEqual(new Set([toEventKind("player.killed"), toEventKind("gap", "KillLogs")]));
  });
});

describe("refused with 5104", () => {
  test.each([
    ["after=", "after", "must be a cursor, earliest or now"],
    ["after=Earliest", "after", "must be a cursor, earliest or now"],
    [`after=${CURSOR}x`, "after", "must be a cursor, earliest or now"],
    [`after=${writeCursor("srv_b", PLACE)}`, "after", "is a cursor of another server"],
    ["after=now&after=now", "after", "is given twice"],
    ["before=earliest", "before", "must be a cursor, or now"],
    ["before=now&before=now", "before", "is given twice"],
    ["before=now&after=now", "before", "does not go with after"],
    ["before=now&wait=1", "wait", "does not go with before"],
    ["at=1&before=now", "at", "does not go with after or before"],
    ["at=1&wait=1", "wait", "does not go with at"],
    ["at=yesterday", "at", "must be a whole number from 0 to 9007199254740991"],
    ["limit=0", "limit", "must be a whole number from 1 to 500"],
    ["limit=501", "limit", "must be a whole number from 1 to 500"],
    ["limit=", "limit", "must be a whole number from 1 to 500"],
    ["limit=1e2", "limit", "must be a whole number from 1 to 500"],
    ["limit=5&limit=5", "limit", "is given twice"],
    ["wait=26", "wait", "must be a whole number from 0 to 25"],
    ["wait=-1", "wait", "must be a whole number from 0 to 25"],
    ["wait=1.5", "wait", "must be a whole number from 0 to 25"],
    ["wait=1&wait=1", "wait", "is given twice"],
    ["player=", "player", "must be the id of a player, in digits"],
    ["player=Bob", "player", "must be the id of a player, in digits"],
    ["player=1&player=2", "player", "is given twice"],
    ["types=", "types", "has an empty name"],
    ["types=gap,", "types", "has an empty name"],
    ["types=gap,gap", "types", "has gap twice"],
    ["types=gap&types=player.killed", "types", "is given twice"],
    ["types=player", "types", "has a name that is no type of event, and no group of them such as player.*"],
    ["types=*", "types", "has a name that is no type of event, and no group of them such as player.*"],
  ])("%s", (query, field, words) => {
    expect(refusalOf(query)).toEqual([5104, { [field]: words }]);
  });

  test("every fault is named at once", () => {
    const [code, details] = refusalOf("types=&after=x&limit=0&wait=99&player=x");
    expect(code).toBe(5104);
    expect(Object.keys(details as object).toSorted()).toEqual(["after", "limit", "player", "types", "wait"]);
  });

  test("more than 64 types, or more than 2,000 characters of them", () => {
    const unknown = "has a name that is no type of event, and no group of them such as player.*";
    expect(refusalOf(`types=${",".repeat(63)}`)).toEqual([5104, { types: "has an empty name" }]);
    expect(refusalOf(`types=${",".repeat(64)}`)).toEqual([5104, { types: "has more than 64 names" }]);
    expect(refusalOf(`types=${"x".repeat(2_000)}`)).toEqual([5104, { types: unknown }]);
    expect(refusalOf(`types=${"x".repeat(2_001)}`)).toEqual([5104, { types: "has more than 2,000 characters" }]);
    expect(refusalOf("types=gap&".repeat(65))).toEqual([5104, { types: "is given twice" }]);
  });

  test("15,000 types, before any of them is looked up", () => {
    const names = `${"x,".repeat(7_500)}${"gap,".repeat(7_500)}`;
    const spentMs = timeProcessor();
    for (let run = 0; run < 10; run++) {
      expect(refusalOf(`types=${names}`)).toEqual([5104, { types: "has more than 2,000 characters" }]);
      const stream = parseStreamQuery({ types: [names], place: undefined }, "srv_a", READS_ALL);
      expect(isRefusal(stream)).toBe(true);
    }
    // Looking them up takes more than half a second each of the twenty times.
    expect(spentMs()).toBeLessThan(2_000);
  });

  test("an unknown name is not repeated: it may be a secret", () => {
    expect(JSON.stringify(refusalOf("types=gth_secret"))).not.toContain("secret");
  });
});

describe("refused with 5011, before anything else is judged", () => {
  const some = toSectionSet(["JoinLogs"]);
  test.each([
    ["types=player.killed", ["KillLogs"]],
    ["types=player.joined,player.killed&limit=0", ["KillLogs"]],
    ["types=vehicle.*", ["Vehicles"]],
    ["types=nonsense,staff.added", ["Staff"]],
    ["types=gap&types=queue.changed", ["Queue"]],
  ])("%s", (query, sections) => {
    expect(refusalOf(query, some)).toEqual([5011, { sections }]);
  });

  test("a wildcard gives what the key may have", () => {
    const parsed = parse("types=player.*", some);
    if (isRefusal(parsed)) throw new Error("refused");
    expect(parsed.query.filter).toEqual(
      new Set([toEventKind("player.joined"), toEventKind("player.left"), toEventKind("gap", "JoinLogs")]),
    );
  });
});
