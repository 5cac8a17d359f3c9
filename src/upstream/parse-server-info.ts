// Parses and checks the ServerInfo in an answer of the game API. The result is text that can be sent to callers.
import Type from "typebox";
import { parseExactJson } from "../core/exact-json.ts";
import type { ServerContent, ServerParts } from "../core/ports/upstream.ts";
import { SECTIONS, type Section } from "../core/sections.ts";
import { SectionSchemas, ServerBase } from "../core/wire/server-info.ts";
import {
  compileFit,
  copyUnknown,
  type Fit,
  type FitOptions,
  type FitReport,
  INVALID,
  isJsonObject,
} from "./fit-shape.ts";
import { ELEMENTS_MAX, hasOversizedPart } from "./value-limits.ts";

/** Each of the three maps is optional while fitting, so that one bad map does not empty the others. */
const LooseStaff = Type.Partial(SectionSchemas.Staff);
const KNOWN_FIELDS = { ...ServerBase.properties, ...SectionSchemas };
const KNOWN_NAMES = Object.keys(KNOWN_FIELDS);
const NO_STAFF = { Admins: {}, Mods: {}, Helpers: {} };

export type ParsedInfo = { readonly parts: ServerParts; readonly content: ServerContent };

export class ServerInfoParser {
  readonly #keepsUnknown: boolean;
  readonly #fitBase = compileFit(ServerBase, { keepsUnknown: false });
  readonly #fitSections: readonly Fit[];

  constructor(options: FitOptions) {
    this.#keepsUnknown = options.keepsUnknown;
    this.#fitSections = SECTIONS.map((name) => {
      return compileFit(name === "Staff" ? LooseStaff : SectionSchemas[name], options);
    });
  }

  /**
   * Undefined when the text cannot be a ServerInfo. A list or map with too many elements makes the whole answer absurd: a
   * section that is relayed empty instead would tell callers that nobody plays.
   */
  parse(text: string): ParsedInfo | undefined {
    try {
      return this.#parse(text);
    } catch (error) {
      // Not JSON, or nested too deeply to be read or written.
      if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
      throw error;
    }
  }

  /** Fields that are dropped may have any size. */
  #isTooLarge(value: unknown): boolean {
    if (this.#keepsUnknown || !isJsonObject(value)) return hasOversizedPart(value);
    return KNOWN_NAMES.some((name) => hasOversizedPart(value[name]));
  }

  #parse(text: string): ParsedInfo | undefined {
    // A short text cannot have too many elements.
    const isTooLarge = (value: unknown) => this.#isTooLarge(value);
    const body = parseExactJson(text, text.length > ELEMENTS_MAX ? isTooLarge : undefined);
    if (!isJsonObject(body)) return undefined;
    const report: FitReport = { misfits: 0 };
    const base = this.#fitBase(body, report);
    if (base === INVALID || !isJsonObject(base)) return undefined;
    const unknown: Record<string, unknown> = {};
    if (this.#keepsUnknown) copyUnknown(body, unknown, KNOWN_FIELDS);
    const present: Partial<Record<Section, unknown>> = {};
    const sections = SECTIONS.map((name, index) => {
      const fitted = fitSection(name, body[name], this.#fitSections[index], report);
      if (fitted !== undefined) present[name] = fitted;
      return JSON.stringify(name === "Staff" ? { ...NO_STAFF, ...fitted } : (fitted ?? []));
    });
    // Serialised separately, because a field called "7" would come first in any object.
    const extra = JSON.stringify(unknown).slice(1, -1);
    const required = JSON.stringify(base).slice(0, -1);
    const parts = { base: extra === "" ? required : `${required},${extra}`, sections, misfits: report.misfits };
    return { parts, content: { settings: base, sections: present } };
  }
}

/** Undefined when the section is missing, null or of another JSON type. A map of Staff that is null or of another type is left out. */
function fitSection(name: Section, value: unknown, fit: Fit | undefined, report: FitReport): object | undefined {
  if (value === undefined || value === null || !fit) return undefined;
  // The game API writes an empty Staff as [].
  if (name === "Staff" && Array.isArray(value) && value.length === 0) return NO_STAFF;
  const fitted = fit(value, report);
  if (typeof fitted !== "object" || fitted === null) {
    report.misfits++;
    return undefined;
  }
  return name === "Staff" ? { ...findMissingMaps(value), ...fitted } : fitted;
}

/** A map that Staff does not have at all is an empty one. */
function findMissingMaps(staff: object): object {
  return Object.fromEntries(Object.entries(NO_STAFF).filter(([role]) => !(role in staff)));
}

/** The values of parts whose text was changed after parsing. */
export function parseContent(parts: ServerParts, { sections }: ServerContent): ServerContent {
  const present = SECTIONS.flatMap((name, index) => {
    if (!(name in sections)) return [];
    const value = parseExactJson(parts.sections[index] ?? "null");
    return [[name, name === "Staff" ? pickFields(value, sections.Staff) : value]];
  });
  const settings = parseExactJson(`${parts.base}}`);
  return { settings: isJsonObject(settings) ? settings : {}, sections: Object.fromEntries(present) };
}

/** The fields of `value` that `known` has too. */
function pickFields(value: unknown, known: unknown): unknown {
  if (!isJsonObject(value) || !isJsonObject(known)) return value;
  return Object.fromEntries(Object.entries(value).filter(([field]) => Object.hasOwn(known, field)));
}
