// A forgotten player is gone from every field and text, and nothing else changes.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { canForget, findNames, PlayerEraser } from "./forget-player.ts";

const eraser = new PlayerEraser({ id: "54", names: ["Bob", "Bobby_2"] });
const erase = (value: unknown, isStaff = false) => {
  return JSON.parse(eraser.erase(JSON.stringify(value), isStaff));
};

test("names that are too long for one pattern are forgotten like any other", () => {
  // The runtime refuses a pattern of more than a million characters.
  const names = Array.from({ length: 200 }, (_, n) => `${"x".repeat(5_500)}${n}`);
  const long = new PlayerEraser({ id: "54", names: [...names, "Bob"] });
  const text = JSON.stringify({ Description: `${names[7]} and ${names[199]}, bob and 54` });
  expect(JSON.parse(long.erase(text))).toEqual({ Description: "deleted and deleted, deleted and 0" });
});

describe("fields", () => {
  test.each([
    [
      { Join: true, Player: "Bob:54", Timestamp: 54 },
      { Join: true, Player: "deleted:0", Timestamp: 54 },
    ],
    [
      { Killed: "Ann:1", Killer: "Anything:54" },
      { Killed: "Ann:1", Killer: "deleted:0" },
    ],
    [
      { Caller: "Bob:54", Moderator: "Bob" },
      { Caller: "deleted:0", Moderator: "deleted" },
    ],
    [
      { Caller: 54, Players: [1, 54, 540], CallNumber: 54, Position: [54, 54] },
      { Caller: 0, Players: [1, 0, 540], CallNumber: 54, Position: [54, 54] },
    ],
    [{ targets: ["Ann:1", "Bob:54"] }, { targets: ["Ann:1", "deleted:0"] }],
    [{ Queue: [54, 5, 54] }, { Queue: [0, 5, 0] }],
    [{ before: [54, 5] }, { before: [0, 5] }],
    [{ before: { OwnerId: 54, Name: "Bob" } }, { before: { OwnerId: 0, Name: "Bob" } }],
    [
      { Name: "Bob", OwnerId: 54, CoOwnerIds: [1, 54] },
      { Name: "Bob", OwnerId: 0, CoOwnerIds: [1, 0] },
    ],
    [
      { Owner: "bob", Name: "Bob" },
      { Owner: "deleted", Name: "Bob" },
    ],
    [
      { Command: "help", Argument: "", Player: "54" },
      { Command: "help", Argument: "", Player: "0" },
    ],
    [
      { Player: "Bob:54", Team: "Bob", Callsign: "54" },
      { Player: "deleted:0", Team: "Bob", Callsign: "54" },
    ],
    [
      { Callsign: "Bob", PositionDescriptor: "near Bob", Texture: "54 livery" },
      { Callsign: "deleted", PositionDescriptor: "near deleted", Texture: "0 livery" },
    ],
  ])("%j", (before, after) => {
    expect(erase(before)).toEqual(after);
  });

  test("a member of the staff", () => {
    const member = { Role: "Admins", UserId: "54", Name: "Bob" };
    expect(erase(member, true)).toEqual({ Role: "Admins", UserId: "0", Name: "deleted" });
    expect(erase({ Role: "Admins", UserId: "5", Name: "Ann" }, true)).toMatchObject({ UserId: "5" });
  });

  test("another player with the same name, or a name that is the number, stays", () => {
    for (const value of [{ Player: "Bob:55" }, { Owner: "54" }, { Killed: "54:7" }])
      expect(erase(value)).toEqual(value);
  });

  test("a webhook of an unknown kind: keys and values of any form", () => {
    const Data = { "54": "Bob:54", list: ["told bob to go", 54.0, { who: "Bobbyx" }], x: "154" };
    expect(erase({ Event: "odd", Data })).toEqual({
      Event: "odd",
      Data: { "0": "deleted:0", list: ["told deleted to go", 0, { who: "Bobbyx" }], x: "154" },
    });
    expect(erase({ Event: "odd", Data: '{"by":"Bob:54","cut' }).Data).toBe('{"by":"deleted:0","cut');
  });
});

describe("texts", () => {
  test.each([
    [":kick Bob for spam", ":kick deleted for spam"],
    [":kick 54,55", ":kick 0,55"],
    [":pm BOB,bobby_2 hello", ":pm deleted,deleted hello"],
    [":log Bob:54 was here", ":log deleted:0 was here"],
    [":bob bob", ":bob deleted"],
    [":54 bob", ":0 deleted"],
    [":kick Bobx xBob _Bob Bob_ Bobé éBob", ":kick Bobx xBob _Bob Bob_ Bobé éBob"],
    [":time 154 540 5.54 54.5 x54 54x", ":time 154 540 5.54 54.5 x54 54x"],
    [":kick (54) 54. 'Bob'", ":kick (0) 0. 'deleted'"],
    ["Bob fell", "deleted fell"],
  ])("%s", (before, after) => {
    expect(erase({ Command: before, Player: "A:1" }).Command).toBe(after);
  });

  test("a description has no name of a command", () => {
    expect(erase({ Description: ":Bob calls 54" }).Description).toBe(":deleted calls 0");
  });

  test("names that look like patterns are taken literally", () => {
    const odd = new PlayerEraser({ id: "9", names: ["a.b", "(x|y)*", "$&", "", "\\d"] });
    const text = JSON.stringify({ Description: "axb a.b (x|y)* $& 5 \\d" });
    expect(JSON.parse(odd.erase(text)).Description).toBe("axb deleted deleted deleted 5 deleted");
  });

  test("a letter with combining marks belongs to its word", () => {
    const erased = eraser.erase(JSON.stringify({ Description: "Bob\u0301 and Bob" }));
    expect(JSON.parse(erased).Description).toBe("Bob\u0301 and deleted");
  });

  test("a name that ends with a sigma is found in every case", () => {
    const greek = new PlayerEraser({ id: "9", names: ["Νίκος"] });
    expect(greek.eraseName("ΝΊΚΟΣ")).toBe("deleted");
    const text = JSON.stringify({ Description: "ΝΊΚΟΣ.Ατ νίκοσ, νίκος" });
    expect(JSON.parse(greek.erase(text)).Description).toBe("deleted.Ατ deleted, deleted");
  });

  test("a player named like what takes the names' place", () => {
    const odd = new PlayerEraser({ id: "9", names: ["deleted", "0"] });
    expect(JSON.parse(odd.erase('{"Description":"deleted 0 9"}')).Description).toBe("deleted deleted 0");
  });
});

test("numbers stay exact, and a text that does not name the player stays as it is", () => {
  const text = '{"Caller":54,"StartedAt":12345678901234567890,"Position":[1.0,1e3]}';
  expect(eraser.erase(text)).toBe('{"Caller":0,"StartedAt":12345678901234567890,"Position":[1.0,1e3]}');
  const same = '{ "Timestamp": 54.0, "Player":"Ann:1" }';
  expect(eraser.erase(same)).toBe(same);
  const big = new PlayerEraser({ id: "12345678901234567890", names: [] });
  expect(big.erase('{"Players":[12345678901234567890,12345678901234567891]}')).toBe(
    '{"Players":[0,12345678901234567891]}',
  );
});

test("the names that an event gives to an id", () => {
  const text = JSON.stringify({ Killed: "Bob:54", Killer: "a:b:54", Player: "Ann:154" });
  expect(findNames(text, "54")).toEqual(["Bob", "a:b"]);
  expect(findNames('{"Role":"Mods","UserId":"54","Name":"Bobby"}', "54")).toEqual(["Bobby"]);
  expect(findNames('{"Command":":pm x:54"}', "54")).toEqual([]);
});

test("only digits can be forgotten, and not the id of those who are forgotten already", () => {
  expect(["54", "0", "", "a", "5 4", "9".repeat(33)].filter(canForget)).toEqual(["54"]);
});

test("whatever the name and the text: nothing of it is left as a word, and a second time changes nothing", () => {
  const names = fc.stringMatching(/^[A-Za-z0-9_]{3,20}$/).filter((name) => !/^(?:deleted|0)$/i.test(name));
  const texts = fc.string({ unit: "grapheme" });
  fc.assert(
    fc.property(names, texts, texts, (name, before, after) => {
      const any = new PlayerEraser({ id: "54", names: [name] });
      const once = any.erase(JSON.stringify({ Description: `${before} ${name} 54 ${after}` }));
      const { Description } = JSON.parse(once);
      expect(Description.split(/[^\p{L}\p{N}_]+/u)).not.toContain(name);
      expect(Description).toContain(" deleted 0 ");
      expect(any.erase(once)).toBe(once);
    }),
    { numRuns: 500 },
  );
});

test("a player goes from the values of an alert too, and its numbers stay", () => {
  const eraser = new PlayerEraser({ id: "5", names: ["Bob"] });
  const meta = { events: ["a"], code: "used", values: { command: ":ban Bob" } };
  expect(eraser.erase(JSON.stringify(meta))).toBe(JSON.stringify({ ...meta, values: { command: ":ban deleted" } }));
  const kills = JSON.stringify({ events: [], code: "kills", values: { count: 5, seconds: 60 } });
  expect(eraser.erase(kills)).toBe(kills);
});

test("the targets of a command tell names of the player", () => {
  expect(findNames(JSON.stringify({ targets: ["Ann:1", "Old Bob:54"] }), "54")).toEqual(["Old Bob"]);
});
