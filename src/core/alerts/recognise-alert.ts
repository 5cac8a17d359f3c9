// Recognises the English sentence of an alert, so that it can be said in another language. Pure and safe in browsers.

export type AlertWords =
  | { readonly name: "kills" | "fewerKills"; readonly count: number; readonly seconds: number }
  | { readonly name: "used"; readonly command: string }
  | { readonly name: "unanswered" | "offline" | "unreachable"; readonly minutes: number }
  | {
      readonly name: "below" | "above";
      readonly limit: number;
      readonly minutes: number;
      readonly count: number;
    }
  | { readonly name: "playersNow"; readonly count: number }
  | { readonly name: PlainName };

type PlainName =
  | "usedNoMore"
  | "answered"
  | "left"
  | "nobodyForADay"
  | "callerDeleted"
  | "isOnline"
  | "isOffline"
  | "isUnreachable"
  | "ruleChanged"
  | "serverReplaced"
  | "tooMany";

/** The sentences that are the same for every alert. */
const PLAIN: ReadonlyMap<string, PlainName> = new Map([
  ["The call was answered.", "answered"],
  ["Nobody answered for a day.", "nobodyForADay"],
  ["The caller was deleted.", "callerDeleted"],
  ["The server is online.", "isOnline"],
  ["The server is offline.", "isOffline"],
  ["The server cannot be reached.", "isUnreachable"],
  ["The rule was changed.", "ruleChanged"],
  ["The server key leads to another game server.", "serverReplaced"],
  ["Too many other alerts are raised.", "tooMany"],
]);

type Pattern = readonly [RegExp, (found: readonly string[]) => AlertWords];

/** The ends of sentences, because a name before them can be anything. */
const PATTERNS: Readonly<Record<string, readonly Pattern[]>> = {
  kills: [
    [/ killed (\d+) players? within (\d+) seconds?\.$/, ([a, b]) => countKills("kills", a, b)],
    [/ has fewer than (\d+) kills? within (\d+) seconds?\.$/, ([a, b]) => countKills("fewerKills", a, b)],
  ],
  unanswered_modcall: [
    [
      /'s call for a moderator for (\d+) minutes?\.$/,
      ([minutes]) => ({ name: "unanswered", minutes: Number(minutes) }),
    ],
    [/ has left the server\.$/, () => ({ name: "left" })],
  ],
  offline: [
    [/ offline for (\d+) minutes?\.$/, ([minutes]) => ({ name: "offline", minutes: Number(minutes) })],
  ],
  unreachable: [
    [/ reached for (\d+) minutes?\.$/, ([minutes]) => ({ name: "unreachable", minutes: Number(minutes) })],
  ],
  players: [
    [
      /^(Fewer|More) than (\d+) players? for (\d+) minutes?: (\d+) players? now\.$/,
      ([which, limit, minutes, count]) => ({
        name: which === "Fewer" ? "below" : "above",
        limit: Number(limit),
        minutes: Number(minutes),
        count: Number(count),
      }),
    ],
    [/^(\d+) players? now\.$/, ([count]) => ({ name: "playersNow", count: Number(count) })],
  ],
};

/** Undefined for an unknown sentence. `name` is that of the player whom the alert is about. */
export function recogniseAlert(rule: string, text: string, name: string): AlertWords | undefined {
  const plain = PLAIN.get(text);
  if (plain) return { name: plain };
  if (rule === "mass_command") return recogniseCommand(text, `${name} used `);
  const patterns = Object.hasOwn(PATTERNS, rule) ? PATTERNS[rule] : undefined;
  for (const [pattern, read] of patterns ?? []) {
    const found = pattern.exec(text);
    if (found) return read(found.slice(1));
  }
  return undefined;
}

/** Compares the whole rest, because a command can end like any sentence. */
function recogniseCommand(text: string, start: string): AlertWords | undefined {
  if (!text.startsWith(start)) return undefined;
  const rest = text.slice(start.length);
  return rest === "no such command for 60 seconds."
    ? { name: "usedNoMore" }
    : { name: "used", command: rest };
}

function countKills(name: "kills" | "fewerKills", count = "", seconds = ""): AlertWords {
  return { name, count: Number(count), seconds: Number(seconds) };
}
