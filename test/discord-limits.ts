// What Discord refuses in a message to a webhook, checked as strictly as its documentation says. Tests and the fake Discord
// use it, so it shares nothing with the code that writes messages.

const LENGTHS = {
  content: 2_000,
  title: 256,
  description: 4_096,
  fieldName: 256,
  fieldValue: 1_024,
  footer: 2_048,
  author: 256,
  username: 80,
};
const EMBEDS_MAX = 10;
const FIELDS_MAX = 25;
const CHARACTERS_MAX = 6_000;
const COLOUR_MAX = 0xffffff;

const MESSAGE_FIELDS = new Set(["content", "username", "avatar_url", "tts", "embeds", "allowed_mentions", "flags"]);
const EMBED_FIELDS = new Set(["title", "description", "url", "timestamp", "color", "footer", "author", "fields"]);

type Fields = Readonly<Record<string, unknown>>;

/** Collects what is wrong, and the characters that count toward the total. */
class MessageCheck {
  readonly problems: string[] = [];
  characters = 0;

  add(place: string, problem: string): void {
    this.problems.push(`${place}: ${problem}`);
  }

  /** A text that is there must not be empty: Discord removes white space at both ends first. */
  text(place: string, value: unknown, max: number, isRequired = false): void {
    if (value === undefined && !isRequired) return;
    if (typeof value !== "string") {
      this.add(place, "must be a text");
      return;
    }
    if (value.trim() === "") this.add(place, "must not be empty");
    // In UTF-16 units, which are at least as many as characters, however Discord counts them.
    if (value.length > max) this.add(place, `has ${value.length} of ${max} characters`);
    if (!value.isWellFormed()) this.add(place, "has half a character");
    this.characters += value.length;
  }
}

/** The problems of a message as it was parsed from JSON; empty when Discord takes it. */
export function findDiscordProblems(message: unknown): string[] {
  const check = new MessageCheck();
  if (!isFields(message)) return ["the message must be an object"];
  for (const name of Object.keys(message)) if (!MESSAGE_FIELDS.has(name)) check.add(name, "is unknown");
  check.text("content", message.content, LENGTHS.content);
  check.text("username", message.username, LENGTHS.username);
  const { embeds = [] } = message;
  if (!Array.isArray(embeds)) return ["embeds: must be a list"];
  if (embeds.length > EMBEDS_MAX) check.add("embeds", `has ${embeds.length} of ${EMBEDS_MAX}`);
  if (embeds.length === 0 && message.content === undefined) check.add("the message", "is empty");
  check.characters = 0;
  for (const [index, embed] of embeds.entries()) checkEmbed(check, `embeds[${index}]`, embed);
  if (check.characters > CHARACTERS_MAX)
    check.add("embeds", `have ${check.characters} of ${CHARACTERS_MAX} characters`);
  // Not a rule of Discord, but a promise of ours: nobody is ever notified.
  if (JSON.stringify(message.allowed_mentions) !== '{"parse":[]}') check.add("allowed_mentions", "must allow none");
  return check.problems;
}

function checkEmbed(check: MessageCheck, place: string, embed: unknown): void {
  if (!isFields(embed)) {
    check.add(place, "must be an object");
    return;
  }
  for (const name of Object.keys(embed)) if (!EMBED_FIELDS.has(name)) check.add(`${place}.${name}`, "is unknown");
  const { color, timestamp, fields = [], footer, author } = embed;
  check.text(`${place}.title`, embed.title, LENGTHS.title);
  check.text(`${place}.description`, embed.description, LENGTHS.description);
  if (color !== undefined && !(Number.isInteger(color) && Number(color) >= 0 && Number(color) <= COLOUR_MAX))
    check.add(`${place}.color`, "must be an integer up to 0xffffff");
  if (timestamp !== undefined && Number.isNaN(Date.parse(String(timestamp))))
    check.add(`${place}.timestamp`, "must be a time");
  if (footer !== undefined)
    check.text(`${place}.footer`, isFields(footer) ? footer.text : footer, LENGTHS.footer, true);
  if (author !== undefined)
    check.text(`${place}.author`, isFields(author) ? author.name : author, LENGTHS.author, true);
  if (!Array.isArray(fields)) {
    check.add(`${place}.fields`, "must be a list");
    return;
  }
  if (fields.length > FIELDS_MAX) check.add(`${place}.fields`, `has ${fields.length} of ${FIELDS_MAX}`);
  for (const [index, field] of fields.entries()) {
    const { name, value, inline } = isFields(field) ? field : {};
    check.text(`${place}.fields[${index}].name`, name, LENGTHS.fieldName, true);
    check.text(`${place}.fields[${index}].value`, value, LENGTHS.fieldValue, true);
    if (inline !== undefined && typeof inline !== "boolean")
      check.add(`${place}.fields[${index}].inline`, "must be true or false");
  }
  if (embed.title === undefined && embed.description === undefined && fields.length === 0) check.add(place, "is empty");
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Read from left to right, as Discord does: an escaped character, code, a time, or a link to a profile. */
const OWN_MARKDOWN =
  /\\[^0-9A-Za-z\s]|`[^`\n]+`|<t:-?\d+:[TRf]>|\[(?:\\[^\s[\]]|[^\\[\]*_~`|<>()])+\]\(https:\/\/www\.roblox\.com\/users\/\d{1,32}\/profile\)/gu;
const FORMATTING = /[*_~`|<>[\]()\\]|(?:^|\n)\s*(?:#|-|\+|\d+\.)|:\/\//u;
/** What messages use on purpose: after an at sign, inside emoji, and around text from right to left. */
const OWN_MARKS = /\u200b|\u200d|\u2068|\u2069/g;
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]/u;

/**
 * What a hostile name has managed to do to a text of an embed. Links to profiles, times, code and bold type are ours and
 * allowed; what is left of the text must not format, link or mention anything.
 */
export function findHostileMarkdown(text: string): string[] {
  const problems: string[] = [];
  if (HIDDEN.test(text.replaceAll("\n", " ").replace(OWN_MARKS, ""))) problems.push("it has an invisible character");
  if (/@(?:everyone|here)/i.test(text)) problems.push("it mentions everybody");
  const opened = text.split("\u2068").length;
  if (opened !== text.split("\u2069").length) problems.push("an isolated text has no end");
  const rest = text.replace(OWN_MARKDOWN, "x").replace(/\*\*([^*\n]+)\*\*/g, "$1");
  const found = FORMATTING.exec(rest);
  if (found) problems.push(`it has ${JSON.stringify(found[0])} at ${found.index}: ${JSON.stringify(rest)}`);
  return problems;
}
