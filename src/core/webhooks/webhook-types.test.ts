import { expect, test } from "bun:test";
import { filterAll, toEventKind } from "../events/event-types.ts";
import { filterOfTypes, findTypesProblem } from "./webhook.ts";

test.each<[readonly string[], string | undefined]>([
  [["player.*", "modcall.opened", "gap"], undefined],
  [["player.joined", "player.joined"], "has player.joined twice"],
  [["player.joined,player.left"], "has a name that is no type"],
  [["player.joined", ""], "has an empty name"],
  [["whatever.*"], "has a name that is no type"],
])("the types %p: %p", (types, problem) => {
  if (problem === undefined) expect(findTypesProblem(types)).toBeUndefined();
  else expect(findTypesProblem(types)).toStartWith(problem);
});

test("a long list is refused before its names are looked at", () => {
  expect(findTypesProblem(Array(65).fill("gap"))).toBe("has more than 64 names");
  expect(findTypesProblem(Array(64).fill("gap"))).toBe("has gap twice");
  expect(findTypesProblem(Array(40).fill("x".repeat(60)))).toBe("has more than 2,000 characters");
});

test("an unknown name is not repeated, because it may be a secret", () => {
  expect(findTypesProblem(["whsec_secret"])).not.toContain("whsec_secret");
});

test("no list, and a list that is not known any more, hide nothing", () => {
  expect(filterOfTypes(null)).toEqual(filterAll());
  expect(filterOfTypes(["gone.type"])).toEqual(filterAll());
  const filter = filterOfTypes(["player.killed"]);
  expect(filter.has(toEventKind("player.killed"))).toBe(true);
  expect(filter.has(toEventKind("player.joined"))).toBe(false);
});
