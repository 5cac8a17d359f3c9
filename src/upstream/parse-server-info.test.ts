// A good answer of the game API, with every oddity that was seen in the field, becomes a ServerInfo as specified.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Check } from "typebox/value";
import { ALL_SECTIONS_INFO, BASE_INFO } from "../../test/fake-game-api.ts";
import { repeat } from "../../test/long.ts";
import { ServerInfo } from "../core/wire/server-info.ts";
import { parseContent, ServerInfoParser } from "./parse-server-info.ts";

const SECTION_NAMES = [
  "Players",
  "Staff",
  "JoinLogs",
  "Queue",
  "KillLogs",
  "CommandLogs",
  "ModCalls",
  "EmergencyCalls",
  "Vehicles",
];

/** A good answer with every section. */
const EXAMPLE = { ...BASE_INFO, ...ALL_SECTIONS_INFO };
const REQUIRED = Object.keys(EXAMPLE).slice(0, 8);

const parsers = {
  drop: new ServerInfoParser({ keepsUnknown: false }),
  pass: new ServerInfoParser({ keepsUnknown: true }),
};

/** The whole body with every section, as a reader who requests all nine gets it. */
function relayText(text: string, unknown: "drop" | "pass" = "drop"): { body: string; misfits: number } | undefined {
  const parts = parsers[unknown].parse(text)?.parts;
  if (!parts) return undefined;
  const sections = parts.sections.map((section, index) => `,"${SECTION_NAMES[index]}":${section}`);
  return { body: `${parts.base}${sections.join("")}}`, misfits: parts.misfits };
}

type Json = Record<string, unknown>;
function relay(changes: Json, unknown: "drop" | "pass" = "drop") {
  const relayed = relayText(JSON.stringify({ ...EXAMPLE, ...changes }), unknown);
  return relayed && { info: JSON.parse(relayed.body) as Json, ...relayed };
}

/** One changed element of a section, as it is relayed, and how many parts were dropped. */
function relayItem(section: keyof typeof EXAMPLE, changes: Json, unknown: "drop" | "pass" = "drop") {
  const [example] = EXAMPLE[section] as unknown as Json[];
  const relayed = relay({ [section]: [{ ...example, ...changes }] }, unknown);
  const items = relayed?.info[section] as Json[];
  return { item: items[0] ?? {}, misfits: relayed?.misfits };
}

describe("the whole", () => {
  test("the documented example is relayed unchanged", () => {
    expect(relay({})).toMatchObject({ body: JSON.stringify(EXAMPLE), misfits: 0 });
  });

  test("required fields come first and sections after them, each in the order of the specification", () => {
    const reversed = Object.fromEntries(Object.entries(EXAMPLE).toReversed());
    const relayed = relayText(JSON.stringify(reversed));
    expect(relayed?.body).toBe(JSON.stringify(EXAMPLE));
  });

  test.each(REQUIRED)("without %s it is no ServerInfo", (name) => {
    expect(relay({ [name]: undefined })).toBeUndefined();
    expect(relay({ [name]: null })).toBeUndefined();
    expect(relay({ [name]: { odd: 1 } })).toBeUndefined();
  });

  test.each([
    ["Name", 7],
    ["OwnerId", "123"],
    ["OwnerId", 1.5],
    ["CoOwnerIds", {}],
    ["CurrentPlayers", "1"],
    ["CurrentPlayers", 0.5],
    ["MaxPlayers", true],
    ["JoinKey", 5],
    ["AccVerifiedReq", false],
    ["TeamBalance", "true"],
    ["TeamBalance", 1],
  ])("with a %s of %p it is no ServerInfo", (name, value) => {
    expect(relay({ [name]: value })).toBeUndefined();
  });

  test.each(["", "null", "[]", "7", '"x"', "{}", "<html>", '{"Name":"x"', "[{}]", "\u0000"])(
    "%p is no ServerInfo",
    (text) => {
      expect(relayText(text)).toBeUndefined();
    },
  );

  test("an answer nested beyond reason is refused or relayed, and never throws", () => {
    for (const depth of [1_000, 10_000, 100_000, 1_000_000]) {
      const nested = "[".repeat(depth) + "]".repeat(depth);
      relayText(nested);
      for (const unknown of ["drop", "pass"] as const) {
        expect(() => relayText(`${JSON.stringify(EXAMPLE).slice(0, -1)},"Deep":${nested}}`, unknown)).not.toThrow();
      }
    }
  });
});

describe("integers", () => {
  const big = "1234567890123456789";
  test.each(["OwnerId", "CurrentPlayers", "MaxPlayers"])(
    "%s is relayed exactly, whatever its size and spelling",
    (name) => {
      for (const spelling of [big, `-${big}`, "1.0", "1e3", "0", "-0"]) {
        const text = JSON.stringify(EXAMPLE).replace(new RegExp(`"${name}":\\d+`), `"${name}":${spelling}`);
        expect(relayText(text)?.body).toContain(`"${name}":${spelling},`);
      }
    },
  );

  test("inside sections too: ids, times, stars and positions", () => {
    const text = JSON.stringify(EXAMPLE)
      .replaceAll("1704614400", big)
      .replace('"Queue":[123]', `"Queue":[${big},1.0]`)
      .replace('"CoOwnerIds":[123]', `"CoOwnerIds":[${big}]`)
      .replace('"Caller":168', `"Caller":${big}`)
      .replace('"WantedStars":0', '"WantedStars":2e0')
      .replace("-654.6", "-654.60");
    expect(relayText(text)).toEqual({ body: text, misfits: 0 });
  });

  test("1.5 is no integer: dropped from a list, left out of an element", () => {
    expect(relay({ Queue: [1, 1.5, 2] })?.info.Queue).toEqual([1, 2]);
    expect(relayItem("Players", { WantedStars: 1.5 }).item).not.toHaveProperty("WantedStars");
    expect(relayItem("JoinLogs", { Timestamp: 1.5 }).item).not.toHaveProperty("Timestamp");
  });
});

describe("sections", () => {
  const emptyOf = (name: string) => (name === "Staff" ? { Admins: {}, Mods: {}, Helpers: {} } : []);

  test.each(SECTION_NAMES)("%s is relayed empty when it is missing or null", (name) => {
    expect(relay({ [name]: undefined })).toMatchObject({ info: { [name]: emptyOf(name) }, misfits: 0 });
    expect(relay({ [name]: null })?.info[name]).toEqual(emptyOf(name));
  });

  test.each(SECTION_NAMES)("%s is relayed empty and counted when it is of another JSON type", (name) => {
    for (const odd of ["text", 7, true, name === "Staff" ? [1] : { a: 1 }]) {
      const relayed = relay({ [name]: odd });
      expect(relayed?.info[name]).toEqual(emptyOf(name));
      expect(relayed?.misfits).toBeGreaterThan(0);
    }
  });

  test.each(SECTION_NAMES.filter((name) => name !== "Staff"))(
    "%s loses the elements that are not of its kind",
    (name) => {
      const [good] = EXAMPLE[name as "Queue"];
      const relayed = relay({ [name]: ["text", good, null, true, [], good] });
      expect(relayed?.info[name]).toEqual([good, good]);
      expect(relayed?.misfits).toBe(4);
    },
  );
});

describe("as seen in the field", () => {
  test("Staff arrives as [] when it is empty", () => {
    expect(relay({ Staff: [] })?.info.Staff).toEqual({ Admins: {}, Mods: {}, Helpers: {} });
  });
  test("each of Staff's maps may arrive as []", () => {
    const staff = { Admins: [], Mods: { "2": "B" }, Helpers: [] };
    expect(relay({ Staff: staff })).toMatchObject({
      info: { Staff: { Admins: {}, Mods: { "2": "B" }, Helpers: {} } },
      misfits: 0,
    });
  });
  test("Staff always has its three maps, in order, whichever are missing, null or odd", () => {
    const relayed = relay({ Staff: { Helpers: { "1": "H" }, Mods: null, Admins: "x" } });
    expect(JSON.stringify(relayed?.info.Staff)).toBe('{"Admins":{},"Mods":{},"Helpers":{"1":"H"}}');
  });
  test.each([
    [{ Helpers: { "1": "H" }, Mods: null, Admins: "x" }, { Helpers: { "1": "H" } }],
    [
      { Admins: [], Mods: {} },
      { Admins: {}, Mods: {}, Helpers: {} },
    ],
    [{}, { Admins: {}, Mods: {}, Helpers: {} }],
    [[], { Admins: {}, Mods: {}, Helpers: {} }],
    ["x", undefined],
    [null, undefined],
  ])("of the Staff %j readings are compared by %j", (given, compared) => {
    const parsed = parsers.drop.parse(JSON.stringify({ ...EXAMPLE, Staff: given }));
    if (!parsed) throw new Error("it is no ServerInfo");
    expect(parsed.content.sections.Staff).toEqual(compared);
    expect(parseContent(parsed.parts, parsed.content).sections.Staff).toEqual(compared);
  });
  test("a Staff key that is no number is dropped, and so is a name that is no text", () => {
    const staff = { Admins: { "1": "A", abc: "x", "-2": "y", "3": 7, "": "z" }, Mods: {}, Helpers: {} };
    const relayed = relay({ Staff: staff });
    expect(relayed).toMatchObject({ info: { Staff: { Admins: { "1": "A" } } }, misfits: 4 });
    expect(relayed?.body).toContain('"Admins":{"1":"A"},');
  });
  test("Killer is missing when the environment killed", () => {
    const { item, misfits } = relayItem("KillLogs", { Killer: undefined });
    expect(item).toEqual({ Killed: "PlayerName:123", Timestamp: 1704614400 });
    expect(misfits).toBe(0);
  });

  test.each([
    ["Players", "Callsign"],
    ["Vehicles", "Texture"],
    ["ModCalls", "Moderator"],
  ] as const)("%s: %s may be null, empty or missing, and stays so", (section, field) => {
    expect(relayItem(section, { [field]: null })).toMatchObject({ item: { [field]: null }, misfits: 0 });
    expect(relayItem(section, { [field]: "" })).toMatchObject({ item: { [field]: "" }, misfits: 0 });
    const { item, misfits } = relayItem(section, { [field]: undefined });
    expect([field in item, misfits]).toEqual([false, 0]);
  });

  test.each(["ColorHex", "ColorName"])(
    "Vehicles: %s that is null is left out and counted; empty and missing stay so",
    (field) => {
      const asNull = relayItem("Vehicles", { [field]: null });
      expect([field in asNull.item, asNull.misfits]).toEqual([false, 1]);
      expect(relayItem("Vehicles", { [field]: "" })).toMatchObject({ item: { [field]: "" }, misfits: 0 });
      expect(relayItem("Vehicles", { [field]: undefined }).misfits).toBe(0);
    },
  );

  test.each(["PostalCode", "BuildingNumber"])(
    "a Location's %s that is null is left out, the rest of the Location stays",
    (field) => {
      const location: Json = { ...EXAMPLE.Players[0]?.Location };
      const { item, misfits } = relayItem("Players", { Location: { ...location, [field]: null } });
      delete location[field];
      expect(item.Location).toEqual(location);
      expect(misfits).toBe(1);
      expect(relayItem("Players", { Location: { ...location, [field]: "" } }).misfits).toBe(0);
      expect(relayItem("Players", { Location: location }).misfits).toBe(0);
    },
  );

  test("a player's Location may be absent; null or another type is left out and counted", () => {
    expect(relayItem("Players", { Location: undefined })).toMatchObject({ misfits: 0 });
    for (const odd of [null, "x", 7, []]) {
      const { item, misfits } = relayItem("Players", { Location: odd });
      expect(["Location" in item, misfits]).toEqual([false, 1]);
    }
  });

  test.each(["Caller", "Description"])("an emergency call's %s that is null is left out, the call stays", (field) => {
    const { item, misfits } = relayItem("EmergencyCalls", { [field]: null });
    expect([field in item, item.CallNumber, misfits]).toEqual([false, 400, 1]);
  });

  test("call numbers that repeat across teams are all relayed", () => {
    const [call] = EXAMPLE.EmergencyCalls;
    const relayed = relay({ EmergencyCalls: [call, { ...call, Team: "Fire" }] });
    expect(relayed?.info.EmergencyCalls).toHaveLength(2);
  });

  test.each([[[1]], [[1, 2, 3]], [[1, "2"]], [[]], [null], ["1,2"], [{}]])(
    "a Position of %j is left out",
    (position) => {
      const { item, misfits } = relayItem("EmergencyCalls", { Position: position });
      expect(["Position" in item, misfits]).toEqual([false, 1]);
    },
  );

  test("players of a call that are no ids are dropped singly", () => {
    expect(relayItem("EmergencyCalls", { Players: [1, "2", 3, null] })).toMatchObject({
      item: { Players: [1, 3] },
      misfits: 2,
    });
  });

  test("unknown enumeration values are relayed unchanged", () => {
    expect(relay({ AccVerifiedReq: "Phone/ID" })?.info.AccVerifiedReq).toBe("Phone/ID");
    expect(relayItem("Players", { Permission: "Server Helper" }).item.Permission).toBe("Server Helper");
    expect(relayItem("Players", { Team: "Jail" }).item.Team).toBe("Jail");
  });

  test("a command run through the API is logged for Remote Server, without an id", () => {
    expect(relayItem("CommandLogs", { Player: "Remote Server" })).toMatchObject({
      item: { Player: "Remote Server" },
      misfits: 0,
    });
  });

  test("queue, logs and calls keep the order in which they came, repeats included", () => {
    expect(relay({ Queue: [9, 3, 9, 1] })?.info.Queue).toEqual([9, 3, 9, 1]);
  });
});

describe("unknown fields", () => {
  test("are dropped, at the top, in elements, in Location and in Staff", () => {
    const [player] = EXAMPLE.Players;
    const relayed = relay({
      New: 1,
      Players: [{ ...player, Location: { ...player?.Location, Height: 3 }, Helmet: true }],
      Staff: { ...EXAMPLE.Staff, Trainees: { "9": "T" } },
      Vehicles: [{ ...EXAMPLE.Vehicles[0], Plate: "ABC-123" }],
    });
    expect(relayed?.body).toBe(JSON.stringify(EXAMPLE));
  });

  test("are relayed if the setting allows it, with exact numbers, and after the required fields", () => {
    const text = `{"New":[1.0,12345678901234567890],${JSON.stringify(EXAMPLE).slice(1)}`;
    const relayed = relayText(text, "pass");
    expect(relayed?.body).toContain('"New":[1.0,12345678901234567890]');
    expect(Object.keys(JSON.parse(relayed?.body ?? "{}")).slice(0, 8)).toEqual(REQUIRED);
    expect(relayItem("Vehicles", { Plate: "ABC-123" }, "pass").item.Plate).toBe("ABC-123");
  });

  test("that are named like a number do not come before the required ones", () => {
    const relayed = relayText(`{"7":"seven",${JSON.stringify(EXAMPLE).slice(1)}`, "pass");
    expect(relayed?.body).toStartWith('{"Name":');
  });

  test.each(["drop", "pass"] as const)("named __proto__ or constructor do no harm (%s)", (unknown) => {
    const text = `{"__proto__":{"Name":"stolen","x":1},"constructor":{"prototype":{"x":1}},${JSON.stringify(EXAMPLE).slice(1)}`;
    const relayed = relayText(text, unknown);
    expect(JSON.parse(relayed?.body ?? "{}")).toMatchObject(EXAMPLE);
    expect(({} as Json).x).toBeUndefined();
    const nested = text.replace('"Team":"Sheriff"', '"__proto__":{"Team":"stolen"},"Team":"Sheriff"');
    expect(JSON.parse(relayText(nested, unknown)?.body ?? "{}")).toMatchObject(EXAMPLE);
  });
});

test("whatever stands in place of any field, the parser never throws and its output has the specified shape", () => {
  const paths: [string, ...string[]][] = [
    ...Object.keys(EXAMPLE).map((name): [string] => [name]),
    ...Object.entries(EXAMPLE).flatMap(([section, value]) => {
      const element = Array.isArray(value) ? value[0] : value;
      if (typeof element !== "object") return [];
      return Object.keys(element).map((field): [string, string] => [section, field]);
    }),
  ];
  const odd = fc.oneof(fc.jsonValue(), fc.constantFrom(null, [], {}, "", 0, 1.5, "7", [null], [[1, 2]], { "1": "a" }));
  const runs = repeat({ usual: 1_000, long: 20_000 });
  let relayedCount = 0;
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom(...paths), odd), { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      (changes, keeps) => {
        const given = structuredClone(EXAMPLE) as Json;
        for (const [[section, field], value] of changes) {
          const target = given[section];
          const element = Array.isArray(target) ? target[0] : target;
          if (field === undefined) given[section] = structuredClone(value);
          else if (typeof element === "object" && element !== null) (element as Json)[field] = structuredClone(value);
        }
        const relayed = relayText(JSON.stringify(given), keeps ? "pass" : "drop");
        if (!relayed) return;
        relayedCount++;
        const info: unknown = JSON.parse(relayed.body);
        if (!Check(ServerInfo, info)) throw new Error(`not a ServerInfo: ${relayed.body}`);
        expect(Object.keys(info).slice(0, 8)).toEqual(REQUIRED);
        expect(SECTION_NAMES.every((name) => name in info)).toBe(true);
      },
    ),
    { numRuns: runs },
  );
  expect(relayedCount).toBeGreaterThan(runs / 6);
});
