// No server key is relayed inside a server's state.
import { expect, test } from "bun:test";
import { ALL_SECTIONS_INFO, BASE_INFO } from "../../test/fake-game-api.ts";
import { timeProcessor } from "../../test/processor-time.ts";
import { SECTIONS } from "../core/sections.ts";
import { cleanParts } from "./clean-parts.ts";
import { ServerInfoParser } from "./parse-server-info.ts";
import { KnownKeys } from "./secret-patterns.ts";

const KEY = "nAbCdEf123456-GhIjKl7890";
const known = new KnownKeys();
known.add("other-Town7");

function relay(info: object, keepsUnknown = false, key = KEY) {
  const parts = new ServerInfoParser({ keepsUnknown }).parse(JSON.stringify(info))?.parts;
  if (!parts) throw new Error("no ServerInfo");
  const cleaned = cleanParts(parts, [key, ""], (text) => known.has(text));
  if (!cleaned) return undefined;
  const sections = SECTIONS.map((name, index) => `,"${name}":${cleaned.sections[index]}`).join("");
  return { text: `${cleaned.base}${sections}}`, isSame: cleaned === parts };
}

const INFO = { ...BASE_INFO, ...ALL_SECTIONS_INFO };

test("a state without a key is relayed as it is, without a copy", () => {
  expect(relay(INFO)).toEqual({ text: JSON.stringify(INFO), isSame: true });
});

test("our key is removed from any text, in any case and after any escape", () => {
  const hidden = [KEY, KEY.toUpperCase(), `\n${KEY}`, `"${KEY}"`, `\\${KEY}`, KEY.replace("-", "%2D")];
  for (const text of hidden) {
    const [player] = INFO.Players;
    const relayed = relay({ ...INFO, Name: `Town ${text}`, Players: [{ ...player, Callsign: text }] });
    expect(relayed?.text.toLowerCase()).not.toContain("ghijkl7890");
    const info = JSON.parse(relayed?.text ?? "");
    expect(info.Name).toBe(`Town ${text}`.replace(/nAbCdEf123456.*GhIjKl7890/i, "[redacted]"));
    expect(info.Players[0].Callsign).toContain("[redacted]");
    expect(info.Vehicles).toEqual(INFO.Vehicles);
  }
});

test.each([
  ["a space on each side of the hyphen", "sTk - KsT"],
  ["a space between all letters", "s t k - k s t"],
  ["another hyphen", "sTk\u2010KsT"],
  ["an escaped hyphen", "stk\\u002dkst"],
  ["a hyphen of HTML", "stk&hyphen;kst"],
  ["the Kelvin sign and the long s", "\u017ft\u212a-\u212a\u017ft"],
])("our key is removed when it is written with %s", (_form, text) => {
  const relayed = relay({ ...INFO, Name: `x-y ${text} -1` }, false, "stk-kst");
  expect(JSON.parse(relayed?.text ?? "").Name).toBe("x-y [redacted] -1");
});

test("another server's key is removed too", () => {
  const removed = (text: string) => JSON.parse(relay({ ...INFO, Name: text })?.text ?? "").Name;
  expect(removed("x other-town7 y")).toBe("x [redacted] y");
  expect(removed("-1 a-b --- b-other-town7 OTHER-TOWN7-")).toBe("-1 a-b --- b-other-town7 [redacted]-");
});

test.each(["\n", "\t", '"', "\\", "\u0007"])("another server's key and a short one are found after %j", (escaped) => {
  const info = { ...INFO, Name: `${escaped}other-Town7 ${escaped}a-b` };
  const { Name } = JSON.parse(relay(info, false, "a-b")?.text ?? "");
  expect(Name).toBe(`${escaped}[redacted] ${escaped}[redacted]`);
  const other = { ...INFO, Name: `${escaped}other-Town7` };
  expect(JSON.parse(relay(other)?.text ?? "").Name).toBe(`${escaped}[redacted]`);
  const short = { ...INFO, Name: `${escaped}a-b` };
  expect(JSON.parse(relay(short, false, "a-b")?.text ?? "").Name).toBe(`${escaped}[redacted]`);
});

test("a line break inside of what would be a short key is no reason to refuse the state", () => {
  expect(relay({ ...INFO, Name: "a\n-b" }, false, "a-b")?.isSame).toBe(true);
});

test("numbers stay exact and fields stay in their order beside a removed key", () => {
  const parts = new ServerInfoParser({ keepsUnknown: true }).parse(
    JSON.stringify({ ...INFO, Name: KEY, 7: 1 }).replace('"OwnerId":123', '"OwnerId":12345678901234567890'),
  )?.parts;
  const base = parts && cleanParts(parts, [KEY], () => false)?.base;
  expect(base).toStartWith('{"Name":"[redacted]","OwnerId":12345678901234567890,');
});

test("the name of an unknown field that is a key is removed", () => {
  expect(relay({ ...INFO, [KEY]: 1 }, true)?.text).toContain('"[redacted]":1');
});

test("a short key is found as a word, and not inside of others", () => {
  const info = { ...INFO, Name: "Santa-Barbara a-b" };
  expect(JSON.parse(relay(info, false, "a-b")?.text ?? "").Name).toBe("Santa-Barbara [redacted]");
});

test.each(["-", "a-", "x-y ", '\\"', "%25", "nAbCdEf123456-"])(
  "a state of 4 MiB full of %j is cleaned without holding up other requests",
  (text) => {
    const Name = text.repeat(4_000_000 / JSON.stringify(text).slice(1, -1).length);
    const spentMs = timeProcessor();
    for (const end of ["", ` ${KEY}`]) expect(relay({ ...INFO, Name: Name + end })?.text).not.toContain(KEY);
    // Both take half a second together on a slow machine; quadratic searching would take minutes.
    expect(spentMs()).toBeLessThan(2_000);
  },
);
