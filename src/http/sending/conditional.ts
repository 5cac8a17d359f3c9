// Evaluates If-None-Match and Accept-Encoding.

/** Longer headers are not parsed, so that they cost no time: they count as absent. No client in use sends so much. */
export const ACCEPT_ENCODING_LENGTH_MAX = 1_024;
export const IF_NONE_MATCH_LENGTH_MAX = 8_192;

/** If-None-Match compares weakly: W/"x" and "x" are the same. */
export function isMatchingEtag(header: string | null, etag: string): boolean {
  if (header === null || header.length > IF_NONE_MATCH_LENGTH_MAX) return false;
  return header === etag || isListed(header, opaqueTag(etag));
}

function isListed(header: string, opaque: string): boolean {
  return header.split(",").some((entry) => {
    const tag = entry.trim();
    return tag === "*" || opaqueTag(tag) === opaque;
  });
}

function opaqueTag(tag: string): string {
  return tag.startsWith("W/") ? tag.slice(2) : tag;
}

const GZIP_NAMES: ReadonlySet<string> = new Set(["gzip", "x-gzip"]);

/** The weight of gzip decides when it is named, otherwise that of "*". A weight of 0 means: not accepted. */
export function acceptsGzip(header: string | null): boolean {
  if (header === null || header.length > ACCEPT_ENCODING_LENGTH_MAX) return false;
  let anyAccepted = false;
  for (const entry of header.split(",")) {
    const [coding = "", ...parameters] = entry.split(";");
    const name = coding.trim().toLowerCase();
    const weight = parameters.map((part) => /^\s*q\s*=\s*([\d.]+)\s*$/i.exec(part)?.[1]).find(Boolean);
    const isAccepted = weight === undefined || Number(weight) > 0;
    if (GZIP_NAMES.has(name)) return isAccepted;
    if (name === "*") anyAccepted = isAccepted;
  }
  return anyAccepted;
}
