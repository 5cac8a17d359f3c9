// What an alert says: a code and its values, from which the sentence of each language is made. Pure and safe in browsers.

export type AlertWords =
  | { readonly code: "kills" | "fewer_kills"; readonly count: number; readonly seconds: number }
  | { readonly code: "used"; readonly command: string }
  | { readonly code: "unanswered" | "offline" | "unreachable"; readonly minutes: number }
  | { readonly code: "below" | "above"; readonly limit: number; readonly minutes: number; readonly count: number }
  | { readonly code: "players_now"; readonly count: number }
  | { readonly code: "used_no_more" | "left" | keyof typeof PLAIN };

/** The sentences that are the same for every alert. */
const PLAIN = {
  answered: "The call was answered.",
  claimed: "Somebody is on the way.",
  expired: "Nobody answered for an hour.",
  /** Only in events of earlier versions. */
  nobody_for_a_day: "Nobody answered for a day.",
  is_online: "The server is online.",
  is_offline: "The server is offline.",
  is_unreachable: "The server cannot be reached.",
  rule_changed: "The rule was changed.",
  server_replaced: "The server key leads to another game server.",
  too_many: "Too many other alerts are raised.",
} as const;

/** `name` is that of the player whom the alert is about. */
export function sayAlertInEnglish(words: AlertWords, name: string): string {
  switch (words.code) {
    case "kills":
      return `${name} killed ${count(words.count, "player")} within ${count(words.seconds, "second")}.`;
    case "fewer_kills":
      return `${name} has fewer than ${count(words.count, "kill")} within ${count(words.seconds, "second")}.`;
    case "used":
      return `${name} used ${words.command}`;
    case "used_no_more":
      return `${name} used no such command for 60 seconds.`;
    case "unanswered":
      return `Nobody has answered ${name}'s call for a moderator for ${count(words.minutes, "minute")}.`;
    case "left":
      return `${name} has left the server.`;
    case "offline":
      return `The server has been offline for ${count(words.minutes, "minute")}.`;
    case "unreachable":
      return `The server could not be reached for ${count(words.minutes, "minute")}.`;
    case "below":
    case "above": {
      const than = `${words.code === "below" ? "Fewer" : "More"} than ${count(words.limit, "player")}`;
      return `${than} for ${count(words.minutes, "minute")}: ${count(words.count, "player")} now.`;
    }
    case "players_now":
      return `${count(words.count, "player")} now.`;
    default:
      return PLAIN[words.code];
  }
}

function count(number: number, thing: string): string {
  return `${number} ${thing}${number === 1 ? "" : "s"}`;
}
