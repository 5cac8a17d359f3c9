// Parses the Authorization header. The runtime joins repeated headers with a comma, so a comma may mean several values.

export type Bearer =
  | { readonly kind: "missing" }
  | { readonly kind: "malformed" }
  | { readonly kind: "token"; readonly token: string };

const MISSING: Bearer = { kind: "missing" };
const MALFORMED: Bearer = { kind: "malformed" };

// A comma followed by "<scheme> <credentials>" begins a second value. In a Digest header a comma is followed by
// "<name>=<value>" instead. An empty first value leaves a leading comma.
const SECOND_VALUE = /^\s*,|,\s*[A-Za-z][A-Za-z0-9-]*\s+[^\s=]|,\s*bearer\s*(?:,|$)/i;

/** No valid header is longer. Longer ones are not parsed, so that they cost no time. */
export const AUTHORIZATION_LENGTH_MAX = 512;
/** Whether one of the values is a Bearer's. */
const ANY_BEARER = /(?:^|,)\s*bearer(?![a-z0-9-])/i;
/** Other characters may look like blanks, or be removed by trim(). */
const VISIBLE_ASCII = /^[\t\x20-\x7e]*$/;
/** Also matches a string without its end, so that no part of one is searched twice: that would take quadratic time. */
const QUOTED_STRING = /"(?:[^"\\]|\\.)*("?)/g;

export function parseBearer(header: string | null): Bearer {
  if (header === null) return MISSING;
  if (header.length > AUTHORIZATION_LENGTH_MAX || !VISIBLE_ASCII.test(header))
    return ANY_BEARER.test(header) ? MALFORMED : MISSING;
  const value = header.trim();
  if (SECOND_VALUE.test(value.replace(QUOTED_STRING, blankQuoted))) return MALFORMED;
  if (!/^bearer(?:[\s,]|$)/i.test(value)) return MISSING;
  const token = value.slice("bearer".length).trim();
  if (token === "") return MISSING;
  return /[\s,]/.test(token) ? MALFORMED : { kind: "token", token };
}

/** A quoted string becomes an empty one, because commas in it separate nothing. One without an end is no quoted string. */
function blankQuoted(text: string, end: string): string {
  return end === "" ? text : '""';
}
