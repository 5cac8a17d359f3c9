// The menu has what somebody may do, and nothing else.
import { expect, test } from "bun:test";
import type { Ability } from "../../core/keys/rights.ts";
import { SECTIONS } from "../../core/sections.ts";
import type { Session } from "../state/session/session.ts";
import { listViews, splitForPhone } from "./view-list.ts";

const namesOf = (session: object) => listViews(session as Session).map(({ name }) => name);

const CALLER = { kind: "caller", mayCommand: false, sections: SECTIONS, hide: [] };

function personWith(may: readonly Ability[], isOperator = false): object {
  const read = () => ({ is_operator: isOperator, servers: [{ may: [] }, { may }] });
  return { kind: "admin", person: { read } };
}

test("a view without any section to show is not in the menu", () => {
  expect(namesOf({ ...CALLER, sections: [] })).toEqual(["live", "activity", "plots"]);
  expect(namesOf({ ...CALLER, sections: ["Vehicles"] })).toEqual(["live", "vehicles", "activity", "plots"]);
  expect(namesOf({ ...CALLER, mayCommand: true })).toEqual([...namesOf(CALLER), "commands"]);
});

test("who may not see where players are has no map", () => {
  expect(namesOf({ ...CALLER, hide: ["Location"] })).toEqual(namesOf(CALLER).filter((name) => name !== "map"));
  expect(namesOf({ ...CALLER, hide: ["JoinKey"] })).toEqual(namesOf(CALLER));
});

test("each right opens its pages", () => {
  const opened = (may: readonly Ability[]) => namesOf(personWith(may)).filter((name) => !/overview|me/.test(name));
  expect(opened(["claim", "notes"])).toEqual([]);
  expect(opened(["exports"])).toEqual(["audit"]);
  expect(opened(["alerts"])).toEqual(["servers"]);
  expect(opened(["status"])).toEqual(["servers"]);
  expect(opened(["keys"])).toEqual(["keys", "blocks", "commands"]);
  expect(opened(["webhooks"])).toEqual(["webhooks"]);
  expect(opened(["people"])).toEqual(["people", "audit"]);
});

test("a person who is an operator has every page of the master key, and one of their own", () => {
  expect(namesOf(personWith([], true))).toEqual([...namesOf({ kind: "admin" }), "me"]);
});

test("a phone has four views in its bar, and every other one behind it", () => {
  const split = (session: object) => {
    const { bar, rest } = splitForPhone(listViews(session as Session));
    return [bar, rest].map((views) => views.map(({ name }) => name));
  };
  expect(split(CALLER)).toEqual([
    ["live", "map", "players", "calls"],
    ["staff", "vehicles", "logs", "activity", "plots"],
  ]);
  expect(split({ ...CALLER, sections: ["Vehicles"] })).toEqual([["live", "vehicles", "activity", "plots"], []]);
  const [bar = [], rest = []] = split({ kind: "admin" });
  expect([...bar, ...rest]).toEqual(namesOf({ kind: "admin" }));
  expect(bar).toHaveLength(4);
});
