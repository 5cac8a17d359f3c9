// Limits on the number of values in an answer of the game API. Parsing and checking take time for each value, and hold up
// every other request meanwhile, so the values are counted before that.

/** For the whole answer. A full server with long logs has a few thousand. */
export const VALUES_MAX = 100_000;
/** For each list and each map. The longest that was seen in the field has a few hundred. */
export const ELEMENTS_MAX = 10_000;
/** How deep lists and maps are counted: the answer, its sections, their elements, and the lists in those. */
const COUNTED_DEPTH = 4;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPENING_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const OPENING_BRACE = 0x7b;

/**
 * Whether the JSON text may have more than VALUES_MAX values: counts the commas and opening brackets outside of texts.
 */
export function hasTooManyValues(text: string): boolean {
  if (text.length <= VALUES_MAX) return false;
  let count = 0;
  let isInText = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) isInText = !isInText;
    else if (code === BACKSLASH) i++;
    else if (!isInText && (code === COMMA || code === OPENING_BRACKET || code === OPENING_BRACE)) count++;
  }
  return count > VALUES_MAX;
}

/** Whether a list or map in the parsed JSON has more than ELEMENTS_MAX elements. */
export function hasOversizedPart(value: unknown, depth = COUNTED_DEPTH): boolean {
  if (typeof value !== "object" || value === null || depth === 0) return false;
  const elements: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  if (elements.length > ELEMENTS_MAX) return true;
  for (const each of elements) if (typeof each === "object" && hasOversizedPart(each, depth - 1)) return true;
  return false;
}
