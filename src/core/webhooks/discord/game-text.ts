// Text from the game in a Discord message. Names, commands and descriptions are written by players: they must not format
// the message, link anywhere, mention anybody or hide something.

/** Longer names are shortened. */
export const NAME_LENGTH_MAX = 40;
const PROFILE = "https://www.roblox.com/users";

/** Characters that show nothing, or change what others show. */
const INVISIBLE = /(?!\u200d)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]|\u034f|\u17b4|\u17b5/gu;
/** A joiner is only of use inside an emoji. */
const STRAY_JOINER =
  /(?<!\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?)\u200d|\u200d(?!\p{Extended_Pictographic})/gu;
/** Many marks on one letter cover the lines around it. */
const STACKED_MARKS = /(\p{M}{3})\p{M}+/gu;
/** Everything that can begin or end formatting, a link, a mention or an emoji. */
const MARKDOWN = /[\\*_~`|>#\-+[\]()<:]/g;
const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;

/** On one line, without invisible characters, and shortened to `max` UTF-16 units. Not yet safe as markdown. */
export function cleanText(text: string, max: number): string {
  // Cleaning takes time for each character, and what follows is cut off anyway.
  const visible = text
    .slice(0, 8 * max)
    .replace(/[\t-\r\u0085\u2028\u2029]/g, " ")
    .replace(INVISIBLE, "")
    .replace(STRAY_JOINER, "")
    .replace(STACKED_MARKS, "$1")
    .replace(/\s+/g, " ")
    .trim();
  return visible.length <= max ? visible : cutText(visible, max);
}

/** Plain text as markdown. Each character becomes two at most. */
export function escapeMarkdown(text: string): string {
  return (
    text
      .replace(MARKDOWN, "\\$&")
      // A number with a point at the beginning of a line is a list.
      .replace(/^(\d+)\./, "$1\\.")
      // A backslash does not keep `@everyone` from being shown as a mention.
      .replaceAll("@", "@\u200b")
  );
}

/** Game text as markdown, on one line; undefined when nothing visible is left of it. */
export function writeText(text: string, max: number): string | undefined {
  const clean = cleanText(text, max);
  return clean === "" ? undefined : isolate(clean, escapeMarkdown(clean));
}

/** As code, which Discord shows letter by letter. */
export function writeCode(text: string, max: number): string | undefined {
  const clean = cleanText(text, max)
    // Nothing can escape a backtick inside code.
    .replaceAll("`", "ˋ")
    .replace(/@(?=everyone|here)/gi, "@\u200b");
  return clean === "" ? undefined : `\`${isolate(clean, clean)}\``;
}

/** A name that leads to the player's profile. `id` consists of digits; 0 stands for a player who was forgotten. */
export function writePlayerLink(name: string, id: string | undefined): string | undefined {
  // Discord ends the text of a link at a bracket even behind a backslash.
  const clean = cleanText(name, NAME_LENGTH_MAX).replaceAll("[", "［").replaceAll("]", "］");
  const shown = clean === "" ? id : isolate(clean, escapeMarkdown(clean));
  if (shown === undefined || id === undefined || id === "0") return shown;
  return `[${shown}](${PROFILE}/${id}/profile)`;
}

/** A time as each reader's own clock shows it: `T` the time of day, `R` how long ago, `f` with the date. */
export function writeTime(ms: number, style: "T" | "R" | "f"): string {
  return `<t:${Math.floor(ms / 1000)}:${style}>`;
}

/** Without it, text from right to left would turn around what stands beside it. */
function isolate(text: string, written: string): string {
  return RIGHT_TO_LEFT.test(text) ? `\u2068${written}\u2069` : written;
}

function cutText(text: string, max: number): string {
  let cut = "";
  for (const character of text) {
    if (cut.length + character.length > max - 1) break;
    cut += character;
  }
  return `${cut.replace(/[\s\u200d]+$/, "")}…`;
}
