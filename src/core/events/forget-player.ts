// How a player is taken out of events: `Name:id` becomes `deleted:0`, an id 0 and a name `deleted`. Pure: works on the JSON
// text of an event, keeps exact numbers exact, and returns the same text when it does not mention the player.

import { parseExactJson } from "../exact-json.ts";
import { foldCase } from "../fold-case.ts";
import { playerIdOf } from "./elements.ts";

export const FORGOTTEN_ID = "0";
export const FORGOTTEN_NAME = "deleted";
const FORGOTTEN_REFERENCE = `${FORGOTTEN_NAME}:${FORGOTTEN_ID}`;
/** More names than this are not remembered for one player. */
export const NAMES_MAX = 200;
/** The runtime refuses patterns of some hundred thousand characters, so long names get several. */
const PATTERN_LENGTH_MAX = 100_000;

export type ForgottenPlayer = { readonly id: string; readonly names: readonly string[] };

/** `any`: a value of unknown form, in which everything may name a player. */
type Role = "reference" | "id" | "name" | "command" | "text" | "any";

/** What the fields of events hold. All other fields name nobody. */
const ROLES: ReadonlyMap<string, Role> = new Map<string, Role>([
  ["Player", "reference"],
  ["Killed", "reference"],
  ["Killer", "reference"],
  ["Caller", "reference"],
  ["Moderator", "reference"],
  ["targets", "reference"],
  ["Players", "id"],
  ["Queue", "id"],
  ["UserId", "id"],
  ["OwnerId", "id"],
  ["CoOwnerIds", "id"],
  ["Owner", "name"],
  ["Callsign", "name"],
  ["Command", "command"],
  ["command", "command"],
  ["Argument", "text"],
  ["Description", "text"],
  ["PositionDescriptor", "text"],
  ["Texture", "text"],
  ["Event", "any"],
  ["Data", "any"],
  ["subject", "any"],
  ["text", "any"],
]);

/** Nothing can be told apart under the id that forgotten players get. */
export function canForget(id: string): boolean {
  return /^[0-9]{1,32}$/.test(id) && id !== FORGOTTEN_ID;
}

/** The names that an event gives to the player with this id. */
export function findNames(text: string, id: string): string[] {
  if (!text.includes(id)) return [];
  const names = new Set<string>();
  collectNames(parseExactJson(text), id, names);
  return [...names];
}

export class PlayerEraser {
  readonly #id: string;
  readonly #names: ReadonlySet<string>;
  /** Without case and as JSON text holds them; a text without any of them is not parsed. */
  readonly #needles: readonly string[];
  readonly #words: readonly RegExp[];

  constructor({ id, names }: ForgottenPlayer) {
    // A longer name first, because it may begin with a shorter one.
    const known = names.filter((name) => name !== "").toSorted((a, b) => b.length - a.length);
    this.#id = id;
    this.#names = new Set(known.map(foldCase));
    this.#needles = [id, ...known.map((name) => foldCase(JSON.stringify(name).slice(1, -1)))];
    const patterns = joinNames(known.map(escapePattern)).map((words) => `(?<name>${words})`);
    // An id is no word inside of a number with a fraction.
    const idPattern = `(?<!\\d\\.)${id}(?!\\.\\d)`;
    const last = patterns.pop();
    patterns.push(last === undefined ? idPattern : `${last}|${idPattern}`);
    this.#words = patterns.map((pattern) => {
      return new RegExp(`(?<![\\p{L}\\p{N}\\p{M}_])(?:${pattern})(?![\\p{L}\\p{N}\\p{M}_])`, "giu");
    });
  }

  /** `data` or `meta` of an event as JSON text. `isStaff`: the field Name holds a player's name. */
  erase(text: string, isStaff = false): string {
    const folded = foldCase(text);
    if (!this.#needles.some((needle) => folded.includes(needle))) return text;
    const before = parseExactJson(text);
    const after = this.#eraseFields(before, isStaff);
    return after === before ? text : JSON.stringify(after);
  }

  /** The text of a command that was sent to the game. */
  eraseCommand(text: string): string {
    return this.#eraseArguments(text);
  }

  /** A text for people, such as a message. */
  eraseText(text: string): string {
    return this.#eraseWords(text);
  }

  eraseName(name: string): string {
    return this.#names.has(foldCase(name)) ? FORGOTTEN_NAME : name;
  }

  /** Returns the same object when nothing in it names the player. */
  #eraseFields(value: unknown, isStaff: boolean): unknown {
    if (Array.isArray(value)) return mapArray(value, (item) => this.#eraseFields(item, isStaff));
    if (!isObject(value)) return value;
    return mapFields(value, (field, inner) => {
      const role = isStaff && field === "Name" ? "name" : ROLES.get(field);
      if (role) return this.#eraseValue(inner, role);
      // What was before is a list of ids (queue.changed), or fields like those of the data.
      if (field === "before" && Array.isArray(inner)) return this.#eraseValue(inner, "id");
      return isObject(inner) ? this.#eraseFields(inner, isStaff) : inner;
    });
  }

  #eraseValue(value: unknown, role: Role): unknown {
    if (Array.isArray(value)) return mapArray(value, (item) => this.#eraseValue(item, role));
    if (typeof value === "string") return this.#eraseString(value, role);
    if (isNumber(value)) return role !== "name" && toIdText(value) === this.#id ? 0 : value;
    if (role !== "any" || !isObject(value)) return value;
    return mapFields(
      value,
      (_, inner) => this.#eraseValue(inner, role),
      (key) => this.#eraseString(key, role),
    );
  }

  #eraseString(text: string, role: Role): string {
    switch (role) {
      case "id":
        return text === this.#id ? FORGOTTEN_ID : text;
      case "name":
        return this.eraseName(text);
      case "command":
        return this.#eraseArguments(text);
      case "reference":
        if (playerIdOf(text) === this.#id) return FORGOTTEN_REFERENCE;
        return text === this.#id ? FORGOTTEN_ID : this.eraseName(text);
      case "text":
        return this.#eraseWords(text);
      case "any":
        return playerIdOf(text) === this.#id && !/\s/.test(text) ? FORGOTTEN_REFERENCE : this.#eraseWords(text);
    }
  }

  /** The first word is the name of the command, even if a player has the same; but no command is called like an id. */
  #eraseArguments(command: string): string {
    const [beginning = "", word] = /^\s*[:;]\s*([\p{L}\p{N}_]*)/u.exec(command) ?? [];
    const start = word === this.#id ? 0 : beginning.length;
    return command.slice(0, start) + this.#eraseWords(command.slice(start));
  }

  #eraseWords(text: string): string {
    return this.#words.reduce((left, words) => {
      return left.replace(words, (...found) => {
        const { name } = (found.at(-1) ?? {}) as { name?: string };
        return typeof name === "string" ? FORGOTTEN_NAME : FORGOTTEN_ID;
      });
    }, text);
  }
}

function collectNames(value: unknown, id: string, names: Set<string>): void {
  if (names.size >= NAMES_MAX || typeof value !== "object" || value === null) return;
  const { UserId, Name } = value as { UserId?: unknown; Name?: unknown };
  if (UserId === id && typeof Name === "string") names.add(Name);
  for (const [field, inner] of Object.entries(value)) {
    // The subject of an alert is a player or the server.
    const mayName = ROLES.get(field) === "reference" || field === "subject";
    const references = mayName ? [inner].flat().filter((one) => typeof one === "string") : [];
    for (const reference of references)
      if (playerIdOf(reference) === id) names.add(reference.slice(0, reference.lastIndexOf(":")));
    if (references.length === 0) collectNames(inner, id, names);
  }
}

function mapArray(items: readonly unknown[], change: (item: unknown) => unknown): readonly unknown[] {
  const changed = items.map(change);
  return changed.some((item, index) => item !== items[index]) ? changed : items;
}

function mapFields(
  fields: object,
  change: (field: string, value: unknown) => unknown,
  changeKey = (key: string) => key,
): object {
  const before = Object.entries(fields);
  const after = before.map(([field, value]) => [changeKey(field), change(field, value)] as const);
  const isSame = after.every(([field, value], index) => field === before[index]?.[0] && value === before[index]?.[1]);
  return isSame ? fields : Object.fromEntries(after);
}

function isNumber(value: unknown): boolean {
  return typeof value === "number" || JSON.isRawJSON(value);
}

/** The id that a number is, however it was written; undefined when it is none. */
function toIdText(value: unknown): string | undefined {
  const text = JSON.stringify(value);
  const [, digits] = /^([0-9]+)(?:\.0+)?$/.exec(text) ?? [];
  if (digits !== undefined) return digits;
  const number = Number(text);
  return Number.isSafeInteger(number) && number > 0 ? String(number) : undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !JSON.isRawJSON(value);
}

/** The names as alternatives, in as few patterns as their length allows. */
function joinNames(names: readonly string[]): string[] {
  const joined: string[] = [];
  for (const name of names) {
    const last = joined.at(-1);
    if (last === undefined || last.length + name.length > PATTERN_LENGTH_MAX) joined.push(name);
    else joined[joined.length - 1] = `${last}|${name}`;
  }
  return joined;
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, (character) => `\\x${character.charCodeAt(0).toString(16)}`);
}
