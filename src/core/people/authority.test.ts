import { expect, test } from "bun:test";
import { NOT_FOUND } from "../errors.ts";
import { ROLE_FORBIDDEN } from "../keys/api-key.ts";
import { ABILITIES, HIDES_JOIN_KEY, HIDES_NOTHING, NO_ABILITIES, toAbilitySet } from "../keys/rights.ts";
import { ALL_SECTIONS, toSectionSet } from "../sections.ts";
import { authorityOf, OPERATOR_AUTHORITY, rightsOfKey } from "./authority.ts";
import { FIRST_ROLES, type Role } from "./role.ts";

const KEEPER: Role = {
  name: "keeper",
  title: "Keeper",
  sections: toSectionSet(["Players", "Queue"]),
  hide: HIDES_JOIN_KEY,
  commands: [":h", ":PM"],
  may: toAbilitySet(["keys", "people", "claim", "notes"]),
};
const LOWER: Role = { ...KEEPER, name: "lower", commands: [":H"], may: toAbilitySet(["claim"]) };
const ALL_ROLES = [...FIRST_ROLES, KEEPER, LOWER];
const findRole = (name: string) => ALL_ROLES.find((role) => role.name === name);
const VIEWER = FIRST_ROLES[0] ?? KEEPER;

/** Keeps a, is a viewer on b, and has nothing on c. */
const keeper = authorityOf(
  { isOperator: false },
  new Map([
    ["srv_a", KEEPER],
    ["srv_b", VIEWER],
  ]),
  findRole,
);

test("an operator may do everything, on every server and on none", () => {
  const operator = authorityOf({ isOperator: true }, new Map(), findRole);
  expect(operator).toBe(OPERATOR_AUTHORITY);
  for (const ability of ABILITIES) expect(operator.require(undefined, ability)).toBeUndefined();
  expect(operator.listServers("keys")).toBeUndefined();
  expect(operator.narrow("keys", "srv_x")).toEqual({ serverId: "srv_x" });
  expect(operator.requirePerson({ isOperator: true, servers: [] })).toBeUndefined();
  expect(operator.requireRoles([], [{ serverId: "srv_x", role: "manager" }])).toBeUndefined();
});

test("a person needs a role on the server, and the ability in it", () => {
  expect(keeper.require("srv_a", "keys")).toBeUndefined();
  expect(keeper.require("srv_a", "webhooks")).toBe(ROLE_FORBIDDEN);
  expect(keeper.require("srv_b", "keys")).toBe(ROLE_FORBIDDEN);
  expect(keeper.require("srv_c", "keys")).toBe(NOT_FOUND);
  expect(keeper.require(undefined, "keys")).toBe(NOT_FOUND);
  expect(keeper.listServers()).toEqual(["srv_a"]);
  expect(keeper.narrow("keys", undefined)).toEqual({ serverIds: ["srv_a"] });
  expect(keeper.narrow("keys", "srv_a")).toEqual({ serverId: "srv_a" });
  expect(keeper.narrow("keys", "srv_b")).toEqual({ serverIds: [] });
});

test("keys are within when their sections, commands and hidden fields are", () => {
  const key = { sections: KEEPER.sections, hide: HIDES_JOIN_KEY, commands: [":h"], may: NO_ABILITIES };
  expect(keeper.requireWithin("srv_a", rightsOfKey(key))).toBeUndefined();
  expect(keeper.requireWithin("srv_c", rightsOfKey(key))).toBe(ROLE_FORBIDDEN);
  for (const more of [
    { sections: ALL_SECTIONS },
    { hide: HIDES_NOTHING },
    { commands: ["*"] },
    { commands: [":kick"] },
    { may: toAbilitySet(["webhooks"]) },
  ])
    expect(keeper.requireWithin("srv_a", rightsOfKey({ ...key, ...more }))).toBe(ROLE_FORBIDDEN);
});

test("roles are given and taken where the person manages people, up to its own rights", () => {
  const on = (serverId: string, role: string) => [{ serverId, role }];
  expect(keeper.requireRoles([], on("srv_a", "lower"))).toBeUndefined();
  expect(keeper.requireRoles(on("srv_a", "lower"), on("srv_a", "keeper"))).toBeUndefined();
  expect(keeper.requireRoles(on("srv_a", "manager"), on("srv_a", "manager"))).toBeUndefined();
  expect(keeper.requireRoles(on("srv_a", "manager"), [])).toBe(ROLE_FORBIDDEN);
  expect(keeper.requireRoles([], on("srv_a", "viewer"))).toBe(ROLE_FORBIDDEN);
  expect(keeper.requireRoles([], on("srv_b", "lower"))).toBe(ROLE_FORBIDDEN);
  expect(keeper.requireRoles([], on("srv_c", "lower"))).toBe(NOT_FOUND);
});

test("a whole person is theirs who has no role elsewhere or above, and is no operator", () => {
  const judge = (roles: Record<string, string>, isOperator = false) => {
    const servers = Object.entries(roles).map(([serverId, role]) => ({ serverId, role }));
    return keeper.requirePerson({ isOperator, servers });
  };
  expect(judge({ srv_a: "lower" })).toBeUndefined();
  expect(judge({ srv_a: "keeper" })).toBeUndefined();
  expect(judge({ srv_a: "manager" })).toBe(ROLE_FORBIDDEN);
  expect(judge({ srv_a: "lower", srv_b: "lower" })).toBe(ROLE_FORBIDDEN);
  expect(judge({ srv_a: "lower", srv_c: "lower" })).toBe(ROLE_FORBIDDEN);
  expect(judge({ srv_a: "lower" }, true)).toBe(ROLE_FORBIDDEN);
  expect(judge({ srv_c: "lower" })).toBe(NOT_FOUND);
  expect(judge({})).toBe(NOT_FOUND);
});
