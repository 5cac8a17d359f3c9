// Values for fuzzed requests: some that a schema allows, some that nearly fit, and some that are hostile.
import type { Random } from "../../../src/simulator/random.ts";

export type Schema = Readonly<Record<string, unknown>>;

/** A JSON text that is sent as it is, because no value gives it. */
export class JsonText {
  constructor(readonly text: string) {}
}

const HOSTILE_TEXTS: readonly string[] = [
  "",
  " ",
  "\0",
  "a\0b",
  "\r\nX-Injected: 1",
  "\u2028",
  "\u202e\u0000",
  "\ud800",
  "\udfff\ud800",
  "😀".repeat(40),
  "é".normalize("NFD").repeat(80),
  "ﬁ\uff0d\u212a",
  "null",
  "__proto__",
  "constructor",
  "toString",
  "../../../../etc/passwd",
  "..%2f..%2f",
  "%00",
  "%",
  "%zz",
  "%ff%fe",
  "%2525252d".repeat(50),
  "-".repeat(900),
  "' OR 1=1 --",
  '"; DROP TABLE keys; --',
  "<script>alert(1)</script>",
  "{{7*7}}",
  "$\u007bjndi:ldap://127.0.0.1/x}",
  "a".repeat(101),
  "a".repeat(513),
  "a".repeat(9_000),
  "true",
  "1e309",
  "-0",
  "NaN",
  "0x10",
  "1_000",
  "９９",
  "9".repeat(400),
];
const HOSTILE_NUMBERS: readonly unknown[] = [
  0,
  -0,
  -1,
  1.5,
  1e21,
  -1e308,
  Number.MAX_SAFE_INTEGER + 2,
  2 ** 31,
  2 ** 63,
  new JsonText("1e999"),
  new JsonText("9".repeat(300)),
  new JsonText("0.00000000000000000000000000000000000001"),
  new JsonText("-0"),
];
const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const DEPTHS = [10, 200, 3_000];
const ITEMS_MAX = 4;

export function letters(random: Random, count: number): string {
  let text = "";
  for (let made = 0; made < count; made++) text += LETTERS[random.integer(0, LETTERS.length - 1)];
  return text;
}

export function hostileText(random: Random): string {
  if (random.chance(0.7)) return random.pick(HOSTILE_TEXTS);
  let text = "";
  for (let left = random.integer(1, 30); left > 0; left--)
    text += String.fromCharCode(random.integer(0, random.chance(0.5) ? 0xff : 0xffff));
  return text;
}

export function hostileValue(random: Random): unknown {
  switch (random.integer(0, 7)) {
    case 0:
      return null;
    case 1:
      return random.chance(0.5);
    case 2:
    case 3:
      return random.pick(HOSTILE_NUMBERS);
    case 4:
      return [hostileText(random), null, 1];
    case 5:
      return { [hostileText(random)]: hostileText(random) };
    case 6:
      return makeDeep(random);
    default:
      return hostileText(random);
  }
}

function makeDeep(random: Random): JsonText {
  const depth = random.pick(DEPTHS);
  return random.chance(0.5)
    ? new JsonText("[".repeat(depth) + "]".repeat(depth))
    : new JsonText(`${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`);
}

/** Where values with a meaning come from, such as ids; undefined when a name has none. */
export type FindValue = (name: string) => unknown;

/** A value that the schema allows, as far as it says so. */
export function makeValue(random: Random, schema: Schema, name: string, find: FindValue): unknown {
  const known = find(name);
  if (known !== undefined) return known;
  const choices = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined;
  if (choices) return makeValue(random, random.pick(choices), name, find);
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return random.pick(schema.enum);
  switch (schema.type) {
    case "null":
      return null;
    case "boolean":
      return random.chance(0.5);
    case "integer":
    case "number":
      return random.integer(Number(schema.minimum ?? 0), Number(schema.maximum ?? 1_000_000));
    case "array":
      return makeItems(random, schema, name, find);
    case "object":
      return makeObject(random, schema, find);
    default:
      return makeText(random, schema);
  }
}

function makeText(random: Random, { minLength = 1, maxLength = 40, pattern }: Schema): string {
  const least = Number(minLength);
  const text = letters(random, random.integer(least, Math.max(least, Math.min(40, Number(maxLength)))));
  // Ids and slugs: a prefix that the pattern names, then letters.
  const prefix = /^\^([a-z]+_)/.exec(String(pattern ?? ""))?.[1];
  if (prefix !== undefined) return prefix + text;
  return String(pattern ?? "").includes("A-Z") ? text : text.toLowerCase();
}

function makeItems(random: Random, schema: Schema, name: string, find: FindValue): unknown[] {
  const { items, minItems = 0, uniqueItems } = schema;
  const count = random.integer(Number(minItems), Number(minItems) + ITEMS_MAX);
  const made = Array.from({ length: count }, () => makeValue(random, items as Schema, `${name}[]`, find));
  return uniqueItems === true ? [...new Set(made)] : made;
}

function makeObject(random: Random, schema: Schema, find: FindValue): Record<string, unknown> {
  const properties = (schema.properties ?? {}) as Readonly<Record<string, Schema>>;
  const required = new Set((schema.required ?? []) as string[]);
  const made: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties)) {
    if (required.has(name) || random.chance(0.4)) made[name] = makeValue(random, property, name, find);
  }
  return made;
}

/** The value with one change: a field that is missing, added, or has a wrong value. */
export function spoil(random: Random, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value) || random.chance(0.1))
    return hostileValue(random);
  const fields = Object.entries(value);
  const at = random.integer(0, Math.max(0, fields.length - 1));
  const [name = "x", inner] = fields[at] ?? [];
  switch (random.integer(0, 3)) {
    case 0:
      fields.splice(at, 1);
      break;
    case 1:
      fields.push([random.chance(0.5) ? hostileText(random) : "unknown", hostileValue(random)]);
      break;
    case 2:
      fields[at] = [name, spoil(random, inner)];
      break;
    default:
      fields[at] = [name, hostileValue(random)];
  }
  return Object.fromEntries(fields);
}

/** JSON of the value, with its JsonTexts as they are. */
export function writeJson(value: unknown): string {
  if (value instanceof JsonText) return value.text;
  if (Array.isArray(value)) return `[${value.map(writeJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const fields = Object.entries(value).map(([name, inner]) => `${JSON.stringify(name)}:${writeJson(inner)}`);
  return `{${fields.join(",")}}`;
}

/** The text as bytes, sometimes damaged: cut, repeated, with broken UTF-8 or with a key twice. */
export function damage(random: Random, text: string): Buffer {
  const bytes = Buffer.from(text);
  const at = random.integer(0, bytes.length);
  switch (random.integer(0, 6)) {
    case 0:
      return bytes.subarray(0, at);
    case 1:
      return Buffer.concat([bytes, bytes]);
    case 2:
      return Buffer.concat([bytes.subarray(0, at), Buffer.from([0xff, 0xc0, 0x80]), bytes.subarray(at)]);
    case 3:
      return Buffer.concat([bytes.subarray(0, at), Buffer.from([0]), bytes.subarray(at)]);
    case 4:
      return Buffer.from(text.replace(/^\{(?=.)/, `{${/^\{("[^"]*":)/.exec(text)?.[1] ?? '"a":'}null,`));
    case 5:
      return Buffer.from(`\ufeff${text}`);
    default:
      return Buffer.alloc(random.chance(0.5) ? 8_193 : 70_000, 0x20);
  }
}
