// The 403 answers: the first broken rule, in a fixed order, decides the code.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createAddressList } from "../address.ts";
import { toSectionNames, toSectionSet } from "../sections.ts";
import { type Access, DEFAULT_RIGHTS, findForbidden, type Grant, isExpired } from "./api-key.ts";
import { toAbilitySet } from "./rights.ts";

const GRANT: Grant = {
  versions: ["v2"],
  sections: toSectionSet(["Players", "Queue"]),
  commands: [],
  hide: 0,
  may: 0,
  allowedFrom: createAddressList(["10.0.0.0/8"]),
  isSuspended: false,
};
const ACCESS: Access = {
  version: "v2",
  community: "north",
  serverCommunity: "north",
  sections: toSectionSet(["Players"]),
  address: "10.1.2.3",
};

const codeOf = (grant: Partial<Grant>, access: Partial<Access>) =>
  findForbidden({ ...GRANT, ...grant }, { ...ACCESS, ...access })?.refused.code;

/** Every rule with an access that breaks it, in the order in which they are checked. */
const RULES = [
  { code: 5010, grant: { versions: ["v1"] }, access: {} },
  { code: 5009, grant: { isSuspended: true }, access: {} },
  { code: 5009, grant: {}, access: { address: "11.0.0.1" } },
  { code: 5009, grant: {}, access: { community: "south" } },
  { code: 5009, grant: {}, access: { ability: "claim" } },
  { code: 5011, grant: {}, access: { sections: toSectionSet(["Staff"]) } },
] satisfies { code: number; grant: Partial<Grant>; access: Partial<Access> }[];

test("a key within its rights is not refused", () => {
  expect(codeOf({}, {})).toBeUndefined();
});

test.each(RULES)("one broken rule gives its code, $code", ({ code, grant, access }) => {
  expect(codeOf(grant, access)).toBe(code);
});

test("for any set of broken rules the first one is the answer", () => {
  fc.assert(
    fc.property(fc.subarray(RULES), (broken) => {
      const grant: Partial<Grant> = Object.assign({}, ...broken.map((rule) => rule.grant));
      const access: Partial<Access> = Object.assign({}, ...broken.map((rule) => rule.access));
      expect(codeOf(grant, access)).toBe(broken[0]?.code);
    }),
    { numRuns: 300 },
  );
});

describe("versions", () => {
  test("a key without any version is refused with 5010", () => {
    expect(codeOf({ versions: [] }, {})).toBe(5010);
  });
  test("a key of both versions may use v2", () => {
    expect(codeOf({ versions: ["v1", "v2"] }, {})).toBeUndefined();
  });
});

describe("addresses", () => {
  test("a key without an address list may be used from anywhere", () => {
    expect(codeOf({ allowedFrom: null }, { address: "203.0.113.9" })).toBeUndefined();
  });
  test("an IPv4-mapped client address is checked as IPv4", () => {
    expect(codeOf({}, { address: "::ffff:10.9.9.9" })).toBeUndefined();
  });
  test("a client with an unknown address is refused", () => {
    expect(codeOf({}, { address: "" })).toBe(5009);
  });
});

describe("communities", () => {
  test("a path without a community is always allowed", () => {
    expect(codeOf({}, { community: undefined })).toBeUndefined();
  });
  test("a server without a community accepts any segment", () => {
    expect(codeOf({}, { community: "whatever", serverCommunity: null })).toBeUndefined();
  });
  test("the segment is compared exactly, case included", () => {
    expect(codeOf({}, { community: "North" })).toBe(5009);
    expect(codeOf({}, { community: "north-" })).toBe(5009);
  });
});

describe("sections", () => {
  test("one section that the key may not read is enough for 5011", () => {
    expect(codeOf({}, { sections: toSectionSet(["Players", "Queue", "Vehicles"]) })).toBe(5011);
  });
  test("a key without sections may still read the required fields", () => {
    expect(codeOf({ sections: 0 }, { sections: 0 })).toBeUndefined();
    expect(codeOf({ sections: 0 }, {})).toBe(5011);
  });
});

test("what somebody may not do is refused with the reason: the role of a person, the commands of a key", () => {
  const may = toAbilitySet(["notes"]);
  expect(codeOf({ may }, { ability: "notes" })).toBeUndefined();
  const detailsOf = (isPerson: boolean) =>
    findForbidden({ ...GRANT, may }, { ...ACCESS, ability: "claim", isPerson })?.fields?.details;
  expect([detailsOf(true), detailsOf(false)]).toEqual([{ reason: "role" }, { reason: "command" }]);
});

test("by default a key has version 2, all nine sections, no commands and no address list", () => {
  expect(DEFAULT_RIGHTS).toMatchObject({ versions: ["v2"], commands: [], ipAllow: [] });
  expect(toSectionNames(DEFAULT_RIGHTS.sections)).toHaveLength(9);
});

test("a key expires at the exact millisecond of expires_at, and never without one", () => {
  const key = { keyId: "key_1", serverId: "srv_1", label: "bot", grant: GRANT, expiresAt: 1_000, person: null };
  expect([isExpired(key, 999), isExpired(key, 1_000), isExpired(key, 1_001)]).toEqual([false, true, true]);
  expect(isExpired({ ...key, expiresAt: null }, Number.MAX_SAFE_INTEGER)).toBe(false);
});
