// The message of the format `discord-status`: one embed with the server's state, when it is edited, and what happens when
// somebody deletes it.
import { HOUR_MS } from "../../durations.ts";
import { type Element, playerIdOf, timeOf } from "../../events/elements.ts";
import type { Section } from "../../sections.ts";
import type { PublicState } from "../../wire/status.ts";
import type { DisabledCode, StatusMessage } from "../webhook.ts";
import { addFooter, type DiscordOptions, readText, writePlayer, writeTeam } from "./event-embed.ts";
import { NAME_LENGTH_MAX, writeCode, writeText, writeTime } from "./game-text.ts";
import {
  type DiscordEmbed,
  type DiscordMessage,
  type EmbedField,
  isWithinLimits,
  toDiscordMessage,
} from "./message.ts";
import { type DiscordWords, wordsOf } from "./words.ts";

/** The message is edited at most this often. */
export const STATUS_EDIT_MIN_MS = 60_000;
/** It is edited this long after the last edit even if nothing changed, so that its age shows that Gatehouse is alive. */
export const STATUS_REFRESH_MS = HOUR_MS;
/** A message that is deleted again within this time after it was lost is not posted a third time. */
export const STATUS_LOSS_MS = HOUR_MS;

const STAFF_SHOWN_MAX = 10;
const CALLS_SHOWN_MAX = 5;
const TEAMS_SHOWN_MAX = 6;
/** Three lists of this length leave room for the rest of the message. */
const LIST_LENGTH_MAX = 900;
const TEXT_LENGTH_MAX = 40;
const NORMAL_PERMISSION = "Normal";

/** What is known of a server. A section that no reading had is missing. */
export type ServerReport = {
  readonly state: PublicState;
  /** The required fields of the last reading that had them; null when there is none. */
  readonly settings: Element | null;
  readonly sections: Readonly<Partial<Record<Section, unknown>>>;
  /** When the last successful reading was made; null when there was none. */
  readonly readAt: number | null;
};

const COLOURS: Readonly<Record<PublicState, number>> = {
  online: 0x2f9e44,
  offline: 0x495057,
  unreachable: 0xe03131,
  unknown: 0x868e96,
};

/** `fingerprint` is the same as long as the message shows the same, apart from its age. */
export function toStatusMessage(
  report: ServerReport,
  options: DiscordOptions,
): { readonly message: DiscordMessage; readonly fingerprint: string } {
  const ageless = toEmbed({ ...report, readAt: report.readAt === null ? null : 0 }, options);
  return {
    message: toDiscordMessage([toEmbed(report, options)]),
    fingerprint: Bun.SHA256.hash(JSON.stringify(ageless), "hex").slice(0, 32),
  };
}

export type StatusStep =
  | { readonly kind: "post" | "edit" }
  /** Nothing to do before `at`, unless something changes. */
  | { readonly kind: "wait"; readonly at: number };

export function judgeStatus(message: StatusMessage | null, fingerprint: string, now: number): StatusStep {
  if (!message || message.messageId === null) return { kind: "post" };
  const waitMs = message.fingerprint === fingerprint ? STATUS_REFRESH_MS : STATUS_EDIT_MIN_MS;
  const at = message.editedAt + waitMs;
  // An edit ahead was made before the clock was set back. One edit too many tells from when to count.
  return now >= at || message.editedAt > now ? { kind: "edit" } : { kind: "wait", at };
}

/** The message was found deleted. It is posted again, unless it was lost a short time before. */
export function judgeLoss(
  message: StatusMessage,
  now: number,
): { readonly message: StatusMessage } | { readonly disabledReason: DisabledCode } {
  const { lostAt } = message;
  if (lostAt !== null && lostAt <= now && now - lostAt < STATUS_LOSS_MS) return { disabledReason: "lost_message" };
  return { message: { ...message, messageId: null, lostAt: now } };
}

function toEmbed({ state, settings, sections, readAt }: ServerReport, options: DiscordOptions): DiscordEmbed {
  const words = wordsOf(options.language);
  const { status } = words;
  const isOnline = state === "online";
  const name = writeText(readText(settings?.Name), NAME_LENGTH_MAX);
  const age = readAt === null ? status.neverRead : `${status.asOf} ${writeTime(readAt, "R")}`;
  const embed = addFooter(
    {
      title: status[state],
      description: name === undefined ? age : `**${name}**\n${age}`,
      color: COLOURS[state],
      // What an unreachable server had at its last reading may not be so any more.
      fields: isOnline && settings ? describeServer(settings, sections, options, words) : [],
    },
    options.serverName,
  );
  return isWithinLimits(embed) ? embed : { ...embed, fields: [] };
}

function describeServer(
  settings: Element,
  sections: ServerReport["sections"],
  { showJoinKey }: DiscordOptions,
  words: DiscordWords,
): EmbedField[] {
  const { status, more } = words;
  const players = listOf(sections.Players);
  const staffIds = findStaffIds(sections.Staff);
  const staff = players?.filter((player) => isStaff(player, staffIds));
  const modCalls = listOf(sections.ModCalls)?.filter(({ Moderator }) => readText(Moderator) === "");
  const calls = listOf(sections.EmergencyCalls);
  const queue = Array.isArray(sections.Queue) ? sections.Queue.length : undefined;
  const room = `**${writeCount(settings.CurrentPlayers)}** ${status.of} ${writeCount(settings.MaxPlayers)}`;
  const teams = players ? describeTeams(players, words) : "";
  const someStaff = { empty: status.nobody, shownMax: STAFF_SHOWN_MAX, more };
  const someCalls = { empty: status.none, shownMax: CALLS_SHOWN_MAX, more };
  const key = writeCode(readText(settings.JoinKey), TEXT_LENGTH_MAX) ?? words.nothing;
  const fields: (EmbedField | undefined)[] = [
    { name: status.players, value: teams === "" ? room : `${room}\n${teams}`, inline: true },
    queue === undefined ? undefined : { name: status.queue, value: `**${queue}**`, inline: true },
    showJoinKey ? { name: status.joinKey, value: key, inline: true } : undefined,
    staff && toListField(status.staff, staff, someStaff, ({ Player }) => writePlayer(Player) ?? words.someone),
    modCalls &&
      toListField(status.modCalls, newestFirst(modCalls, "Timestamp"), someCalls, (call) => {
        return joinParts([writePlayer(call.Caller) ?? words.someone, writeSince(call, "Timestamp")]);
      }),
    calls &&
      toListField(status.calls, newestFirst(calls, "StartedAt"), someCalls, (call) => {
        const place = writeText(readText(call.PositionDescriptor), TEXT_LENGTH_MAX);
        return joinParts([writeTeam(call.Team, words), place, writeSince(call, "StartedAt")]);
      }),
  ];
  return fields.filter((field) => field !== undefined);
}

/** The number of elements, then as many of them as there is room for, one on a line. */
function toListField(
  name: string,
  elements: readonly Element[],
  { empty, shownMax, more }: { readonly empty: string; readonly shownMax: number; readonly more: string },
  write: (element: Element) => string,
): EmbedField {
  if (elements.length === 0) return { name, value: empty, inline: false };
  let value = `**${elements.length}**`;
  let shown = 0;
  for (const element of elements.slice(0, shownMax)) {
    const line = write(element);
    if (value.length + line.length > LIST_LENGTH_MAX) break;
    value += `\n${line}`;
    shown++;
  }
  const left = elements.length - shown;
  return { name, value: left === 0 ? value : `${value}\n${more} ${left}`, inline: false };
}

/** How many play in each team, the largest first. */
function describeTeams(players: readonly Element[], words: DiscordWords): string {
  const counts = new Map<string, number>();
  for (const { Team } of players) {
    const team = writeTeam(Team, words);
    if (team !== undefined) counts.set(team, (counts.get(team) ?? 0) + 1);
  }
  const largest = [...counts].sort(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1));
  return largest
    .slice(0, TEAMS_SHOWN_MAX)
    .map(([team, count]) => `${team} ${count}`)
    .join(" · ");
}

function findStaffIds(staff: unknown): ReadonlySet<string> {
  const roles = typeof staff === "object" && staff !== null ? Object.values(staff) : [];
  return new Set(roles.flatMap((role) => (typeof role === "object" && role !== null ? Object.keys(role) : [])));
}

function isStaff({ Permission, Player }: Element, staffIds: ReadonlySet<string>): boolean {
  const permission = readText(Permission);
  return (permission !== "" && permission !== NORMAL_PERMISSION) || staffIds.has(playerIdOf(Player) ?? "");
}

function newestFirst(elements: readonly Element[], field: string): Element[] {
  return [...elements].sort((a, b) => (timeOf(b, field) ?? 0) - (timeOf(a, field) ?? 0));
}

function writeSince(element: Element, field: string): string | undefined {
  const at = timeOf(element, field);
  return at === null ? undefined : writeTime(at, "R");
}

function writeCount(value: unknown): string {
  const text = readText(value);
  return /^\d{1,10}$/.test(text) ? text : "?";
}

function joinParts(parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined).join(" · ") || "…";
}

/** The elements of a section; undefined when no reading had it. */
function listOf(section: unknown): readonly Element[] | undefined {
  if (!Array.isArray(section)) return undefined;
  return section.filter((element) => typeof element === "object" && element !== null);
}
