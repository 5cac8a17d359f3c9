// One event as an embed that a moderator understands at a glance: who, what, where, when. Whatever is missing in the
// game's data is left out.
import { SERVER_SUBJECT } from "../../alerts/alert-events.ts";
import type { AlertWords } from "../../alerts/alert-words.ts";
import { type Element, playerIdOf, TIME_MAX_MS, timeOf } from "../../events/elements.ts";
import { type EventType, typeOfKind } from "../../events/event-types.ts";
import { parseExactJson } from "../../exact-json.ts";
import type { LedgerEvent } from "../../ports/archive.ts";
import type { WebhookLanguage } from "../webhook.ts";
import { cleanText, NAME_LENGTH_MAX, writeCode, writePlayerLink, writeText, writeTime } from "./game-text.ts";
import { type DiscordEmbed, type EmbedField, isWithinLimits } from "./message.ts";
import { type DiscordWords, wordsOf } from "./words.ts";

export type DiscordOptions = {
  readonly language: WebhookLanguage;
  /** Without it, no message has the key to join the server with. */
  readonly showJoinKey: boolean;
  /** Shown below each event, because several servers may share a channel. */
  readonly serverName: string;
  /** Names of players by their ids, for events that have only ids. */
  readonly playerNames?: ReadonlyMap<string, string>;
};

/** An event as far as a message tells of it. */
export type ToldEvent = Pick<LedgerEvent, "kind" | "at" | "data" | "meta">;

/** Lines of the description, and fields below it. A line that is undefined is left out. */
type Story = {
  readonly title?: string;
  readonly lines: readonly (string | undefined)[];
  readonly fields?: readonly (EmbedField | undefined)[];
};

type Facts = {
  readonly type: EventType;
  readonly data: Element;
  readonly meta: Element;
  readonly words: DiscordWords;
  readonly options: DiscordOptions;
  readonly at: number;
};

const COMMAND_LENGTH_MAX = 400;
const TEXT_LENGTH_MAX = 600;
const VALUE_LENGTH_MAX = 80;
const SERVER_NAME_LENGTH_MAX = 80;
const LINKS_MAX = 5;

/** Kills, calls for a moderator and emergency calls have colours of their own. */
const COLOURS: Readonly<Record<EventType, number>> = {
  "player.joined": 0x2f9e44,
  "player.left": 0x868e96,
  "player.killed": 0xe03131,
  "command.used": 0x1971c2,
  "modcall.opened": 0xfab005,
  "modcall.answered": 0x94d82d,
  "modcall.claimed": 0x3bc9db,
  "modcall.released": 0xffd43b,
  "call.opened": 0xae3ec9,
  "call.changed": 0xda77f2,
  "call.closed": 0x845ef7,
  "custom.command": 0x1098ad,
  "custom.unknown": 0x868e96,
  "player.changed": 0x74c0fc,
  "vehicle.spawned": 0x909296,
  "vehicle.removed": 0x5c5f66,
  "staff.added": 0x0ca678,
  "staff.removed": 0x5c5f66,
  "queue.changed": 0x74c0fc,
  "server.changed": 0x4c6ef5,
  "server.online": 0x2f9e44,
  "server.offline": 0x495057,
  "server.unreachable": 0x862e2e,
  "alert.raised": 0xe8590c,
  "alert.cleared": 0x69db7c,
  gap: 0x495057,
};

/** The vehicle of the service that is called, so that calls differ in a list of titles too. */
const CALL_SIGNS: Readonly<Record<string, string>> = { Police: "🚓", Sheriff: "🚓", Fire: "🚒", DOT: "🚧" };

export function toEventEmbed(event: ToldEvent, options: DiscordOptions): DiscordEmbed {
  const words = wordsOf(options.language);
  const type = typeOfKind(event.kind);
  const facts: Facts = {
    type,
    data: parseFields(event.data),
    meta: event.meta === null ? {} : parseFields(event.meta),
    words,
    options,
    at: event.at,
  };
  const { title = words.title[type], lines, fields = [] } = STORIES[type](facts);
  const when = `${writeTime(event.at, "T")} · ${writeTime(event.at, "R")}`;
  const told = lines.filter((line) => line !== undefined);
  const embed = addFooter(
    {
      title,
      description: [...told, when].join("\n"),
      color: COLOURS[type],
      fields: fields.filter((field) => field !== undefined),
    },
    options.serverName,
  );
  // The lengths above add up to less than this. If they ever do not, the event is still told.
  return isWithinLimits(embed) ? embed : { title: words.title[type], description: when, color: COLOURS[type] };
}

/** What an operator's test sends. */
export function toTestEmbed({ language, serverName }: DiscordOptions): DiscordEmbed {
  const { test } = wordsOf(language);
  return addFooter({ title: test.title, description: test.text, color: 0x1971c2 }, serverName);
}

/** Discord shows a footer without markdown, so nothing is escaped in it. */
export function addFooter(embed: DiscordEmbed, serverName: string): DiscordEmbed {
  const text = cleanText(serverName, SERVER_NAME_LENGTH_MAX).replaceAll("@", "@\u200b");
  return text === "" ? embed : { ...embed, footer: { text } };
}

const STORIES: Readonly<Record<EventType, (facts: Facts) => Story>> = {
  "player.joined": ({ data, words }) => ({ lines: [`${who(data.Player, words)} ${words.joined}`] }),
  "player.left": ({ data, words }) => ({ lines: [`${who(data.Player, words)} ${words.left}`] }),
  "player.killed": ({ data, words }) => ({ lines: [describeKill(data, words)] }),
  "command.used": describeCommand,
  "modcall.opened": ({ data, words }) => ({ lines: [`${who(data.Caller, words)} ${words.asksForModerator}`] }),
  "modcall.answered": describeAnswer,
  "modcall.claimed": ({ data, meta, words }) => describeClaim(meta, words.goesTo, data, words),
  "modcall.released": ({ data, meta, words }) => describeClaim(meta, words.doesNotGoTo, data, words),
  "call.opened": describeCall,
  "call.changed": describeCall,
  "call.closed": describeCall,
  "custom.command": describeCustomCommand,
  "custom.unknown": ({ data }) => ({
    lines: [writeCode(readText(data.Event), VALUE_LENGTH_MAX), writeCode(readText(data.Data), COMMAND_LENGTH_MAX)],
  }),
  "player.changed": (facts) => ({ lines: [who(facts.data.Player, facts.words), ...describeChanges(facts)] }),
  "vehicle.spawned": describeVehicle,
  "vehicle.removed": describeVehicle,
  "staff.added": describeStaff,
  "staff.removed": describeStaff,
  "queue.changed": describeQueue,
  "server.changed": (facts) => ({ lines: describeChanges(facts) }),
  "server.online": describeState,
  "server.offline": describeState,
  "server.unreachable": describeState,
  "alert.raised": describeAlert,
  "alert.cleared": describeAlert,
  gap: describeGap,
};

function describeKill({ Killer, Killed }: Element, words: DiscordWords): string {
  const killed = who(Killed, words);
  if (readText(Killer) === "") return `${killed} ${words.diedWithoutKiller}`;
  const id = playerIdOf(Killer);
  if (id !== undefined && id === playerIdOf(Killed)) return `${killed} ${words.killedThemselves}`;
  return `${who(Killer, words)} ${words.killed} ${killed}`;
}

function describeCommand({ data, meta, words }: Facts): Story {
  const command = writeCode(readText(data.Command), COMMAND_LENGTH_MAX) ?? words.nothing;
  return {
    lines: [
      `${who(data.Player, words)} ${words.used} ${command}`,
      meta.command_id === undefined ? undefined : words.throughGatehouse,
    ],
  };
}

function describeCustomCommand({ data, words }: Facts): Story {
  const text = `;${readText(data.Command)} ${readText(data.Argument)}`;
  const command = writeCode(text, COMMAND_LENGTH_MAX) ?? words.nothing;
  const player = writePlayerId(data.Player, words) ?? words.someone;
  return { lines: [`**${player}** ${words.used} ${command}`] };
}

function describeAnswer({ data, meta, words }: Facts): Story {
  const line = `${who(data.Moderator, words)} ${words.cameTo} ${who(data.Caller, words)}`;
  const since = timeOf(data, "Timestamp");
  const between = Array.isArray(meta.answered_between) ? meta.answered_between.map(Number) : [];
  const [from = Number.NaN, to = Number.NaN] = between;
  if (since === null || !Number.isFinite(from) || !Number.isFinite(to)) return { lines: [line] };
  const shortest = writeDuration(from - since, words);
  const longest = writeDuration(to - since, words);
  const waited = shortest === longest ? longest : `${shortest} – ${longest}`;
  return { lines: [line, `${words.waited}: ${waited}`] };
}

/** Whoever claims is a person or a key, not a player. */
function describeClaim(meta: Facts["meta"], does: string, { Caller }: Facts["data"], words: DiscordWords): Story {
  const { name } = (meta.by ?? {}) as { readonly name?: unknown };
  return {
    lines: [`**${writeText(readText(name), NAME_LENGTH_MAX) ?? words.someone}** ${does} ${who(Caller, words)}`],
  };
}

/** The id of the player who placed the emergency call; undefined for every other event. */
export function callerIdOf({ kind, data }: ToldEvent): string | undefined {
  return typeOfKind(kind).startsWith("call.") ? readText(parseFields(data).Caller) : undefined;
}

function describeCall({ type, data, meta, words, options, at }: Facts): Story {
  const number = readText(data.CallNumber);
  const numbered = /^\d{1,10}$/.test(number) ? ` · ${words.callNumber} ${number}` : "";
  const startedAt = timeOf(data, "StartedAt");
  const isOver = type === "call.closed" && startedAt !== null;
  return {
    title: `${titleOfCall(type, readText(data.Team), words)}${numbered}`,
    lines: [
      writeText(readText(data.Description), TEXT_LENGTH_MAX),
      type === "call.changed" ? describeChangedFields(meta.changed, words) : undefined,
      isOver ? `${words.lasted}: ${writeDuration(at - startedAt, words)}` : undefined,
    ],
    fields: [
      toField(words.field.PositionDescriptor, describePlace(data)),
      toField(words.field.Team, writeTeam(data.Team, words)),
      toField(words.field.Caller, writePlayerId(data.Caller, words, options.playerNames)),
      toField(words.field.Players, writePlayerIds(data.Players, words, options.playerNames)),
    ],
  };
}

function titleOfCall(type: EventType, team: string, words: DiscordWords): string {
  const title = words.title[type];
  const sign = Object.hasOwn(CALL_SIGNS, team) ? CALL_SIGNS[team] : undefined;
  return sign === undefined || type === "call.closed" ? title : title.replace("🚨", sign);
}

function describeChangedFields(changed: unknown, words: DiscordWords): string | undefined {
  const names = (Array.isArray(changed) ? changed : []).map((name) => findWord(words.field, name));
  const known = [...new Set(names.filter((name) => name !== undefined))];
  return known.length === 0 ? undefined : `${words.changed}: ${known.join(", ").toLowerCase()}`;
}

function describePlace({ PositionDescriptor, Position }: Element): string | undefined {
  const [x, z] = Array.isArray(Position) ? Position.map((value) => Math.round(Number(readText(value)))) : [];
  const point = Number.isSafeInteger(x) && Number.isSafeInteger(z) ? `X ${x}, Z ${z}` : undefined;
  const named = writeText(readText(PositionDescriptor), VALUE_LENGTH_MAX);
  return [named, point].filter((part) => part !== undefined).join("\n") || undefined;
}

function describeVehicle({ data, words }: Facts): Story {
  const name = writeText(readText(data.Name), VALUE_LENGTH_MAX) ?? words.nothing;
  const details = ["Owner", "Plate", "ColorName", "Texture"].map((field) => {
    return toField(words.field[field], writeText(readText(data[field]), VALUE_LENGTH_MAX));
  });
  return { lines: [`**${name}**`], fields: details };
}

function describeStaff({ data, words }: Facts): Story {
  const id = readText(data.UserId);
  const link = writePlayerLink(readText(data.Name), /^\d{1,32}$/.test(id) ? id : undefined);
  const role = findWord(words.role, data.Role) ?? writeText(readText(data.Role), VALUE_LENGTH_MAX);
  return { lines: [[`**${link ?? words.someone}**`, role].filter((part) => part !== undefined).join(" · ")] };
}

function describeQueue({ data, meta, words }: Facts): Story {
  const count = (list: unknown) => (Array.isArray(list) ? String(list.length) : "?");
  return {
    lines: [`${words.waiting}: ${count(meta.before)} → **${count(data.Queue)}**`],
    fields: [toField(words.status.queue, writePlayerIds(data.Queue, words))],
  };
}

function describeState({ data, words }: Facts): Story {
  const message = writeText(readText(data.upstream_message), TEXT_LENGTH_MAX);
  return { lines: [message === undefined ? undefined : `${words.gameSays}: ${message}`] };
}

function describeAlert({ data, meta, words }: Facts): Story {
  const rule = findWord(words.rule, data.rule) ?? writeText(readText(data.rule), VALUE_LENGTH_MAX);
  const subject = readText(data.subject);
  const translated = translateAlert(meta, words);
  // The event's own sentence names a subject without an id; a translated one does not.
  const isNamed =
    translated === undefined ? playerIdOf(subject) !== undefined : subject !== "" && subject !== SERVER_SUBJECT.subject;
  return {
    lines: [
      rule === undefined ? undefined : `**${rule}**`,
      isNamed ? who(subject, words) : undefined,
      writeText(translated ?? readText(data.text), TEXT_LENGTH_MAX),
    ],
  };
}

/** Plain text; undefined when the event's own sentence is told: in English, and for an alert of an older Gatehouse. */
function translateAlert({ code, values }: Element, { sayAlert }: DiscordWords): string | undefined {
  return isElement(values) ? sayAlert?.({ code, ...values } as AlertWords) : undefined;
}

function describeGap({ data, words }: Facts): Story {
  const section = findWord(words.section, data.section);
  const [from, to] = [writeGapTime(data.from), writeGapTime(data.to)];
  return {
    lines: [
      findWord(words.gapReason, data.reason) ?? words.gapReason.other,
      section === undefined ? undefined : `${words.concerns}: ${section}`,
      from === undefined ? undefined : `${words.since} ${from}`,
      to === undefined ? undefined : `${words.until} ${to}`,
    ],
  };
}

function writeGapTime(value: unknown): string | undefined {
  return typeof value === "number" && value >= 0 && value <= TIME_MAX_MS ? writeTime(value, "f") : undefined;
}

function describeChanges({ data, meta, words, options }: Facts): string[] {
  const before = isElement(meta.before) ? meta.before : {};
  return Object.keys(before)
    .filter((field) => Object.hasOwn(words.field, field))
    .map((field) => {
      const name = words.field[field];
      if (field === "JoinKey" && !options.showJoinKey) return `${name}: ${words.hidden}`;
      return `${name}: ${writeValue(field, before[field], words)} → **${writeValue(field, data[field], words)}**`;
    });
}

function writeValue(field: string, value: unknown, words: DiscordWords): string {
  if (typeof value === "boolean") return value ? words.on : words.off;
  if (Array.isArray(value)) return String(value.length);
  if (field === "OwnerId") return writePlayerId(value, words) ?? words.nothing;
  if (field === "Team") return writeTeam(value, words) ?? words.nothing;
  if (field === "JoinKey") return writeCode(readText(value), VALUE_LENGTH_MAX) ?? words.nothing;
  const known = field === "Permission" ? findWord(words.permission, value) : undefined;
  return known ?? writeText(readText(value), VALUE_LENGTH_MAX) ?? words.nothing;
}

export function writeTeam(value: unknown, words: DiscordWords): string | undefined {
  return findWord(words.team, value) ?? writeText(readText(value), NAME_LENGTH_MAX);
}

/** The player in `Name:id`, in bold. */
export function who(reference: unknown, words: DiscordWords): string {
  return `**${writePlayer(reference) ?? words.someone}**`;
}

/** The player in `Name:id`, linked to the profile; undefined when there is none. */
export function writePlayer(reference: unknown): string | undefined {
  const text = readText(reference);
  const id = playerIdOf(text);
  return writePlayerLink(id === undefined ? text : text.slice(0, text.lastIndexOf(":")), id);
}

/** A player of whom the game gives only the id. */
function writePlayerId(value: unknown, words: DiscordWords, names?: DiscordOptions["playerNames"]): string | undefined {
  const id = readText(value);
  return /^\d{1,32}$/.test(id) ? writePlayerLink(names?.get(id) ?? `${words.player} ${id}`, id) : undefined;
}

function writePlayerIds(list: unknown, words: DiscordWords, names?: DiscordOptions["playerNames"]): string | undefined {
  const links = (Array.isArray(list) ? list : []).map((value) => writePlayerId(value, words, names));
  const known = links.filter((link) => link !== undefined);
  const more = known.length > LINKS_MAX ? [`${words.more} ${known.length - LINKS_MAX}`] : [];
  return [...known.slice(0, LINKS_MAX), ...more].join(", ") || undefined;
}

/** A time span in its two largest units. */
export function writeDuration(ms: number, { unit }: DiscordWords): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} ${unit.s}`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60)
    return seconds % 60 === 0 ? `${minutes} ${unit.min}` : `${minutes} ${unit.min} ${seconds % 60} ${unit.s}`;
  const hours = Math.floor(minutes / 60);
  return minutes % 60 === 0 ? `${hours} ${unit.h}` : `${hours} ${unit.h} ${minutes % 60} ${unit.min}`;
}

/** A value of the game as text; "" when it is missing. */
export function readText(value: unknown): string {
  if (typeof value === "string") return value;
  return value === null || value === undefined ? "" : JSON.stringify(value);
}

function toField(name: string | undefined, value: string | undefined): EmbedField | undefined {
  return name === undefined || value === undefined ? undefined : { name, value, inline: true };
}

function findWord(words: Readonly<Record<string, string>>, key: unknown): string | undefined {
  return typeof key === "string" && Object.hasOwn(words, key) ? words[key] : undefined;
}

/** Empty when the text is nested more deeply than anything that a message could tell. */
function parseFields(text: string): Element {
  try {
    const value = parseExactJson(text);
    return isElement(value) ? value : {};
  } catch {
    return {};
  }
}

function isElement(value: unknown): value is Element {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
