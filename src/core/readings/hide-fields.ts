// Takes hidden fields out of what a key or role reads: a hidden JoinKey is empty, a hidden Location absent. JSON text in, JSON
// text out; numbers stay as they were written.
import { typeOfKind } from "../events/event-types.ts";
import { parseExactJson } from "../exact-json.ts";
import { HIDES_JOIN_KEY, HIDES_LOCATION, type HiddenSet, toHiddenNames } from "../keys/rights.ts";
import type { LedgerEvent } from "../ports/archive.ts";
import type { ServerParts } from "../ports/upstream.ts";
import { SECTIONS } from "../sections.ts";

type Fields = Readonly<Record<string, unknown>>;

const PLAYERS = SECTIONS.indexOf("Players");

/** Calls for help keep their position. */
export function hideInParts(parts: ServerParts, hide: HiddenSet): ServerParts {
  const { base, sections } = parts;
  return {
    ...parts,
    base: hide & HIDES_JOIN_KEY ? hideInText(`${base}}`, HIDES_JOIN_KEY).slice(0, -1) : base,
    sections: hide & HIDES_LOCATION ? sections.map((text, index) => hideInSection(text, index, hide)) : sections,
  };
}

/** Undefined when nothing is left of the event: only hidden fields changed. */
export function hideInEvent(event: LedgerEvent, hide: HiddenSet): LedgerEvent | undefined {
  if (hide === 0) return event;
  const type = typeOfKind(event.kind);
  // The one type whose data has any shape.
  if (type === "custom.unknown") return { ...event, data: hideInUnknown(event.data, hide) };
  if (type !== "server.changed" || !(hide & HIDES_JOIN_KEY)) return event;
  const { before, ...meta } = parseExactJson(event.meta ?? "{}") as { readonly before?: Fields };
  const { JoinKey: _, ...shown } = before ?? {};
  if (Object.keys(shown).length === 0) return undefined;
  return { ...event, data: hideInText(event.data, hide), meta: JSON.stringify({ ...meta, before: shown }) };
}

function hideInSection(text: string, index: number, hide: HiddenSet): string {
  return index === PLAYERS ? hideInText(text, hide) : text;
}

/** Data that was cut is text, in which fields cannot be told apart. */
function hideInUnknown(json: string, hide: HiddenSet): string {
  const { Data, ...rest } = parseExactJson(json) as Fields;
  const isSecret = typeof Data === "string" && toHiddenNames(hide).some((name) => mentions(Data, name));
  return isSecret ? JSON.stringify({ ...rest, Data: null }) : hideInText(json, hide);
}

function mentions(text: string, name: string): boolean {
  return text.toLowerCase().includes(name.toLowerCase());
}

/** At every depth. The case of the names is ignored, because the game's webhooks write theirs in another one. */
function hideInText(json: string, hide: HiddenSet): string {
  return JSON.stringify(parseExactJson(json), (name, value) => {
    // Compared only where it may match: this is called for every value.
    if (name.length === 7 && hide & HIDES_JOIN_KEY && name.toLowerCase() === "joinkey") return "";
    if (name.length === 8 && hide & HIDES_LOCATION && name.toLowerCase() === "location") return undefined;
    return value;
  });
}
