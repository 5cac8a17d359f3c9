// The badge: the server's name, and how it is. As an SVG of our own, and as shields.io wants it.
import type { PublicState, StatusBadge } from "../../core/wire/status.ts";
import type { StatusFacts } from "../../gateway/status/public-statuses.ts";
import { escapeMarkup, shorten } from "./escape-markup.ts";

const LABEL_LENGTH_MAX = 32;
/** The least that shields.io accepts. */
const CACHE_SECONDS = 300;
const PADDING = 6;
const CHARACTER_WIDTH_MAX = 12;

const COLOURS: Readonly<Record<PublicState, { readonly name: string; readonly code: string }>> = {
  online: { name: "brightgreen", code: "#1f7a3d" },
  offline: { name: "lightgrey", code: "#6b7280" },
  unreachable: { name: "red", code: "#b42318" },
  unknown: { name: "lightgrey", code: "#6b7280" },
};

type BadgeFacts = Pick<StatusFacts, "name" | "state" | "players" | "playersMax">;

export function describeBadge(facts: BadgeFacts): StatusBadge {
  return {
    schemaVersion: 1,
    label: shorten(facts.name, LABEL_LENGTH_MAX),
    message: describeState(facts),
    color: COLOURS[facts.state].name,
    cacheSeconds: CACHE_SECONDS,
  };
}

/** The widths of the texts are given, so that they fit their boxes in every font. */
export function drawBadge(facts: BadgeFacts): string {
  const label = shorten(facts.name, LABEL_LENGTH_MAX);
  const message = describeState(facts);
  const [left, right] = [measure(label), measure(message)];
  const split = left + 2 * PADDING;
  const width = split + right + 2 * PADDING;
  const title = `${escapeMarkup(label)}: ${escapeMarkup(message)}`;
  const text = (content: string, x: number, length: number) =>
    `<text x="${x}" y="14" textLength="${length}" lengthAdjust="spacingAndGlyphs">${escapeMarkup(content)}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="20" role="img" aria-label="${title}"><title>${title}</title><clipPath id="c"><rect width="${width}" height="20" rx="3"/></clipPath><g clip-path="url(#c)"><rect width="${split}" height="20" fill="#374151"/><rect x="${split}" width="${width - split}" height="20" fill="${COLOURS[facts.state].code}"/></g><g fill="#fff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11">${text(label, PADDING, left)}${text(message, split + PADDING, right)}</g></svg>
`;
}

function describeState({ state, players, playersMax }: BadgeFacts): string {
  if (state !== "online" || players === null) return state;
  return playersMax === null ? `${players} online` : `${players}/${playersMax} online`;
}

/** About the width of the text in Verdana 11 px. */
function measure(text: string): number {
  let width = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) width += widthOf(segment);
  return Math.max(CHARACTER_WIDTH_MAX, Math.round(width));
}

function widthOf(character: string): number {
  if (/^[il.,:;'!|]$/.test(character)) return 3.5;
  if (/^[fjrt ()[\]/-]$/.test(character)) return 4.7;
  if (/^[mwMW@%]$/.test(character)) return 10.5;
  if (/^[A-Z]$/.test(character)) return 7.7;
  // Cyrillic letters are a little wider than Latin ones, everything else may be as wide as it is high.
  if (/^[\u0400-\u04ff]$/.test(character)) return 7.6;
  return character.length === 1 && character < "\u0250" ? 6.9 : CHARACTER_WIDTH_MAX;
}
