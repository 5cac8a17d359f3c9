// Removes server keys from a server's state, once for each reading. A game API that echoes our key in a name would otherwise
// give it to every caller.
import type { ServerParts } from "../core/ports/upstream.ts";
import { KEY_CANDIDATES, REDACTED, wordPatternOf } from "./secret-patterns.ts";

/** An escape in JSON: its last letter would look like the first one of a key. */
const ESCAPE = /\\(?:u[0-9a-fA-F]{4}|.)/g;
const JSON_TEXT = /"[^"\\]*(?:\\.[^"\\]*)*"/g;

/**
 * Replaces whole keys only: half of one may be an ordinary word, and the state must stay as it is. Undefined when a key
 * cannot be removed.
 */
export function cleanParts(
  parts: ServerParts,
  secrets: readonly string[],
  isKnownKey: (text: string) => boolean,
): ServerParts | undefined {
  const patterns = secrets.filter((secret) => secret !== "").map(wordPatternOf);
  const texts = [parts.base, ...parts.sections];
  if (!texts.some((text) => hasSecret(text, patterns, isKnownKey))) return parts;
  const cleaned = texts.map((text) => cleanJson(text, patterns, isKnownKey));
  if (cleaned.some((text) => hasSecret(text, patterns, isKnownKey))) return undefined;
  const [base = "", ...sections] = cleaned;
  return { ...parts, base, sections };
}

function hasSecret(
  json: string,
  patterns: readonly RegExp[],
  isKnownKey: (text: string) => boolean,
): boolean {
  if (patterns.some((pattern) => json.search(pattern) >= 0)) return true;
  // A line break is part of no key, and no pattern skips it as it skips a space.
  if (json.includes("\\")) return hasSecret(json.replace(ESCAPE, "\n"), patterns, isKnownKey);
  return json.match(KEY_CANDIDATES)?.some((found) => found.includes("-") && isKnownKey(found)) ?? false;
}

/** Replaces inside each text of the JSON, because an escape such as \n could look like the beginning of a key. */
function cleanJson(json: string, patterns: readonly RegExp[], isKnownKey: (text: string) => boolean): string {
  return json.replace(JSON_TEXT, (quoted) => {
    const text = String(JSON.parse(quoted));
    let safe = text;
    for (const pattern of patterns) safe = safe.replace(pattern, REDACTED);
    safe = safe.replace(KEY_CANDIDATES, (found) => {
      return found.includes("-") && isKnownKey(found) ? REDACTED : found;
    });
    return safe === text ? quoted : JSON.stringify(safe);
  });
}
