// The sentences of notices: what is the matter, and what to do about it. Notices are made of codes and values; this says them
// in English for /readyz, doctor, the log and the command line. The Russian ones are in dashboard/locales.
import { formatBytes } from "./human-units.ts";
import type { NoticeCode } from "./notice-codes.ts";
import type { Notice, Readiness } from "./wire/health.ts";

export type NoticeFacts = Omit<Notice, "message" | "remedy" | "command">;

/** What is the matter, what to do, and a command that does it. The remedy leads to the command. */
type Words = readonly [message: string, remedy: string, command?: string];

/** More names would make a sentence unreadable. */
export const NAMES_MAX = 10;
const COMMANDS_MAX = 3;
const NO_RESTART = "Nothing has to be restarted.";

export function sayNotice(facts: NoticeFacts): Notice {
  const [message, remedy, command] = WORDS[facts.code](facts);
  if (command === undefined) return { ...facts, message, remedy };
  return { ...facts, message, remedy: `${remedy} ${command}`, command };
}

/** Without what only operators may know. Undefined for a notice that is theirs alone. */
export function hideFromCallers(facts: NoticeFacts): NoticeFacts | undefined {
  if (facts.code === "untrusted_proxy") return undefined;
  const { servers: _, names: __, reason: ___, path: ____, ...shown } = facts;
  return shown;
}

export type CallersFacts = {
  readonly now: number;
  /** How many game servers there are. */
  readonly servers: number;
  /** For so long after its reading, what is known of a server is shown. */
  readonly shownForMs: number;
};

/** Whether callers get what they ask for, as far as the notices tell. */
export function judgeCallers(notices: readonly NoticeFacts[], facts: CallersFacts): Readiness["callers"] {
  const { now, servers, shownForMs } = facts;
  let without = 0;
  let isPartly = false;
  for (const { code, count = 0, since = 0, until = now } of notices) {
    if (code === "global_key_refused" || (code === "upstream_paused" && now - since > shownForMs)) return "refused";
    if (code === "upstream_failing" || code === "server_keys_refused" || code === "parked_servers") without += count;
    isPartly ||= PARTLY.has(code) || (code === "certificate_expiring" && until < now);
  }
  if (without > 0 && without >= servers) return "refused";
  return isPartly || without > 0 ? "partly" : "served";
}

/** Some requests are refused while these last. */
const PARTLY: ReadonlySet<NoticeCode> = new Set<NoticeCode>([
  "store_unusable",
  "disk_full",
  "database_away",
  "archive_away",
  "upstream_paused",
]);

const WORDS: Readonly<Record<NoticeCode, (facts: NoticeFacts) => Words>> = {
  store_unusable: () => [
    "The database cannot be read or written: reads of known keys go on, everything else is answered with 503.",
    `Look after the disk and the files of the data folder; the log has the error. ${NO_RESTART} More is told by:`,
    "gatehouse doctor",
  ],
  disk_full: (facts) => [
    `The data folder's disk is full: ${sayFree(facts)}.`,
    `Free some space, or keep events for fewer days (GATEHOUSE_EVENTS_DAYS). ${NO_RESTART} What takes the space:`,
    findSpaceCommand(facts),
  ],
  disk_low: (facts) => [
    `The data folder's disk is nearly full: ${sayFree(facts)}${sayDaysLeft(facts)}.`,
    "Free some space, keep events for fewer days (GATEHOUSE_EVENTS_DAYS), or move the data folder to a larger disk. What takes the space:",
    findSpaceCommand(facts),
  ],
  database_away: () => [
    "PostgreSQL is away: reads of known keys go on, everything else is answered with 503.",
    `Start PostgreSQL, or correct GATEHOUSE_STORE. ${NO_RESTART} Why it cannot be used is told by:`,
    "gatehouse doctor",
  ],
  redis_away: () => [
    "Redis is away: this instance counts requests and calls the game API by itself.",
    `Start Redis, or correct GATEHOUSE_REDIS. ${NO_RESTART} Why it cannot be used is told by:`,
    "gatehouse doctor",
  ],
  upstream_paused: ({ retry_after = 0 }) => [
    `The game API has limited us; it is asked again in ${retry_after} s.`,
    "Wait: it goes on by itself. If you know that the limit is over:",
    "gatehouse upstream resume",
  ],
  upstream_failing: (facts) => [
    `The game API fails for ${sayServers(facts)}; ${isOne(facts) ? "it is" : "they are"} probed from time to time.`,
    "Most often the game has trouble: wait, and look at its status page. What it answered is told by:",
    forEachServer(facts, "gatehouse servers show"),
  ],
  server_keys_refused: (facts) => [
    `The game API has refused ${sayKeys(facts)}; ${isOne(facts) ? "it" : "they"} must be set anew.`,
    "Get a new server key from the game's settings, then:",
    forEachServer(facts, "gatehouse servers set-key"),
  ],
  global_key_refused: () => [
    "The game API has refused GATEHOUSE_UPSTREAM_GLOBAL_KEY; nothing is asked.",
    "Correct or remove GATEHOUSE_UPSTREAM_GLOBAL_KEY, and start Gatehouse again.",
  ],
  parked_servers: (facts) => {
    const added = `Parked: ${sayServers(facts)}. ${isOne(facts) ? "It was" : "They were"} added`;
    const [its, it] = isOne(facts) ? ["its real key", "it"] : ["their real keys", "them"];
    if (!facts.simulated)
      return [
        `${added} for a real game API, and the simulator is in use.`,
        "Set GATEHOUSE_UPSTREAM_URL, and start Gatehouse again.",
      ];
    return [
      `${added} on the simulator, and a real game API is in use.`,
      `Remove ${it}, or set ${its}:`,
      forEachServer(facts, "gatehouse servers set-key"),
    ];
  },
  archive_away: ({ count = 0, reason }) => [
    `The archive cannot be used${reason === undefined ? "" : ` (${reason})`}; ${count} event(s) wait in memory.`,
    `Start its PostgreSQL, or look after archive.db and its disk. ${NO_RESTART} More is told by:`,
    "gatehouse doctor",
  ],
  webhooks_disabled: (facts) => [
    `${isOne(facts) ? "1 webhook was" : `${facts.count} webhooks were`} disabled because of ${isOne(facts) ? "its receiver" : "their receivers"}${sayLabels(facts)}.`,
    `Correct the receiver; ${isOne(facts) ? "it goes" : "they go"} on where ${isOne(facts) ? "it was" : "they were"}, after:`,
    forEach(facts.names, "gatehouse webhooks change", "<webhook>", " --enabled on"),
  ],
  discord_paused: ({ retry_after = 0 }) => [
    `Discord has limited this instance; its webhooks there send again in ${retry_after} s.`,
    "Wait: nothing is lost. If it comes back often, let the webhooks send fewer types of events.",
  ],
  keys_blocked: (facts) => [
    `${isOne(facts) ? "1 key is" : `${facts.count} keys are`} blocked for spam${sayLabels(facts)}.`,
    "Find the program that asks too often and slow it down; the block ends by itself. To end it now:",
    forEach(facts.names, "gatehouse blocks lift", "<key>"),
  ],
  alerts_raised: (facts) => [
    `Alerts are raised on ${sayServers(facts)}.`,
    "Look at the server's alerts on the dashboard. What happened is told by:",
    forEachServer(facts, "gatehouse events --server", " --types alert.raised"),
  ],
  clock_wrong: (facts) => [
    `This machine's clock is ${sayOffset(facts)} the game API's.`,
    "Let NTP set the clock (or chrony):",
    "timedatectl set-ntp true",
  ],
  database_clock_wrong: (facts) => [
    `This machine's clock is ${sayOffset(facts)} PostgreSQL's, which Gatehouse goes by.`,
    "Let NTP (or chrony) set the clocks of both machines:",
    "timedatectl set-ntp true",
  ],
  certificate_expiring: ({ until = 0, days_left = 0 }) => {
    const day = new Date(until).toISOString().slice(0, 10);
    return [
      days_left > 0
        ? `The TLS certificate expires on ${day}, in ${days_left} day(s).`
        : `The TLS certificate expires or has expired on ${day}: clients that check it are not served then.`,
      "Renew it, and write the new files over GATEHOUSE_TLS_CERT and GATEHOUSE_TLS_KEY: they are loaded by themselves.",
    ];
  },
  key_file_gone: ({ path }) => [
    `The file of the master key is gone${path === undefined ? "" : ` (${path})`}: this instance goes on with the key, the command line cannot find it, and the next start makes a new one.`,
    "Put the file back with the key in it, readable for its owner only, or set GATEHOUSE_MASTER_KEY.",
  ],
  untrusted_proxy: ({ address }) => [
    `Requests of keys with address lists come with X-Forwarded-For from ${address}, which GATEHOUSE_TRUST_PROXY does not name: the lists are compared with ${address}.`,
    `If it is your proxy, name it and start Gatehouse again: GATEHOUSE_TRUST_PROXY=${address}`,
  ],
};

function isOne({ count }: NoticeFacts): boolean {
  return count === 1;
}

/** "Cedar, Oak and 3 more". Without names, how many servers. */
function sayServers({ count = 0, servers }: NoticeFacts): string {
  if (!servers) return `${count} server(s)`;
  const others = count - servers.length;
  return others === 0 ? servers.join(", ") : `${servers.join(", ")} and ${others} more`;
}

function sayKeys(facts: NoticeFacts): string {
  if (!facts.servers) return `${facts.count} server key(s)`;
  return `the server ${isOne(facts) ? "key" : "keys"} of ${sayServers(facts)}`;
}

/** ` ("Bot" of Cedar and 2 more)`. */
function sayLabels({ count = 0, names = [], servers = [] }: NoticeFacts): string {
  if (names.length === 0) return "";
  const labels = names.map((name) => `"${name}"`).join(", ");
  const others = count - names.length;
  const of = servers.length === 0 ? "" : ` of ${servers.join(", ")}`;
  return ` (${labels}${others === 0 ? "" : ` and ${others} more`}${of})`;
}

function sayOffset({ offset_ms = 0 }: NoticeFacts): string {
  return `${Math.round(Math.abs(offset_ms) / 1000)} s ${offset_ms > 0 ? "ahead of" : "behind"}`;
}

function sayFree({ free_bytes = 0, free_share = 0 }: NoticeFacts): string {
  return `${formatBytes(free_bytes)} (${Math.floor(free_share * 100)}%) are free`;
}

function sayDaysLeft({ days_left }: NoticeFacts): string {
  if (days_left === undefined) return "";
  return days_left < 1 ? ", for less than a day at this rate" : `, for ${days_left} day(s) at this rate`;
}

function findSpaceCommand({ path }: NoticeFacts): string {
  return `du -xh ${path === undefined ? "<data folder>" : quoteArgument(path)}`;
}

function forEachServer({ servers }: NoticeFacts, command: string, rest = ""): string {
  return forEach(servers, command, "<server>", rest);
}

/** The command for the first of them; `placeholder` when none is named. */
function forEach(names: readonly string[] = [], command: string, placeholder: string, rest = ""): string {
  const named = names.length === 0 ? [placeholder] : names.slice(0, COMMANDS_MAX).map(quoteArgument);
  return named.map((name) => `${command} ${name}${rest}`).join("; ");
}

/** So that the command can be copied into a shell. */
export function quoteArgument(text: string): string {
  if (/^[\w./:@-]+$/.test(text)) return text;
  return /["$`\\!]/.test(text) ? `'${text.replaceAll("'", "'\\''")}'` : `"${text}"`;
}
