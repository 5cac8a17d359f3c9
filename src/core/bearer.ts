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
const LENGTH_MAX = 512;
/** Other characters may look like blanks, or be removed by trim(). */
const VISIBLE_ASCII = /^[\t\x20-\x7e]*$/;
const QUOTED_STRING = /"(?:[^"\\]|\\.)*"/g;

export function parseBearer(header: string | null): Bearer {
  if (header === null) return MISSING;
  if (header.length > LENGTH_MAX) return /^bearer[\s,]/i.test(header) ? MALFORMED : MISSING;
  if (!VISIBLE_ASCII.test(header)) return /^\s*bearer/i.test(header) ? MALFORMED : MISSING;
  const value = header.trim();
  if (SECOND_VALUE.test(value.replace(QUOTED_STRING, '""'))) return MALFORMED;
  if (!/^bearer(?:[\s,]|$)/i.test(value)) return MISSING;
  const token = value.slice("bearer".length).trim();
  if (token === "") return MISSING;
  return /[\s,]/.test(token) ? MALFORMED : { kind: "token", token };
}
