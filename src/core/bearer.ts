// Reads the Authorization header. The runtime joins repeated headers with a comma, which is how more than one
// value is recognised here.

export type Bearer =
  | { readonly kind: "missing" }
  | { readonly kind: "malformed" }
  | { readonly kind: "token"; readonly token: string };

const MISSING: Bearer = { kind: "missing" };
const MALFORMED: Bearer = { kind: "malformed" };

// A comma followed by "<scheme> <credentials>" begins a second value. A Digest header's own commas are followed by
// "<name>=<value>" and do not look like that. An empty first value leaves a leading comma.
const SECOND_VALUE = /^\s*,|,\s*[A-Za-z][A-Za-z0-9-]*\s+[^\s=]|,\s*bearer\s*(?:,|$)/i;

/** No valid header is longer; what is longer gets no closer look, so that nobody can make us work by sending one. */
const LENGTH_MAX = 512;
/** Beyond it are characters that look like a blank, to a person or to trim(). */
const VISIBLE_ASCII = /^[\t\x20-\x7e]*$/;
const QUOTED = /"(?:[^"\\]|\\.)*"/g;

export function parseBearer(header: string | null): Bearer {
  if (header === null) return MISSING;
  if (header.length > LENGTH_MAX) return /^bearer[\s,]/i.test(header) ? MALFORMED : MISSING;
  if (!VISIBLE_ASCII.test(header)) return /^\s*bearer/i.test(header) ? MALFORMED : MISSING;
  const value = header.trim();
  if (SECOND_VALUE.test(value.replace(QUOTED, '""'))) return MALFORMED;
  if (!/^bearer(?:[\s,]|$)/i.test(value)) return MISSING;
  const token = value.slice("bearer".length).trim();
  if (token === "") return MISSING;
  return /[\s,]/.test(token) ? MALFORMED : { kind: "token", token };
}
