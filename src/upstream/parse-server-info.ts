// Parses and checks the ServerInfo in an answer of the game API. The result is text that can be sent to callers.
import Type from "typebox";
import { parseExactJson } from "../core/exact-json.ts";
import type { ServerParts } from "../core/ports/upstream.ts";
import { SECTIONS } from "../core/sections.ts";
import { SectionSchemas, ServerBase } from "../core/wire/server-info.ts";
import {
  compileFit,
  copyUnknown,
  type Fit,
  type FitOptions,
  type FitReport,
  isJsonObject,
  MISFIT,
} from "./fit-shape.ts";
import { ELEMENTS_MAX, hasOversizedPart } from "./value-limits.ts";

/** Each of the three maps is optional while fitting, so that one bad map does not empty the others. */
const LooseStaff = Type.Partial(SectionSchemas.Staff);
const KNOWN_FIELDS = { ...ServerBase.properties, ...SectionSchemas };
const NO_STAFF = { Admins: {}, Mods: {}, Helpers: {} };

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
  parse(text: string): ServerParts | undefined {
    let body: unknown;
    try {
      // Parsing exactly takes ten times as long, so elements are counted before. A short text cannot have too many.
      if (text.length > ELEMENTS_MAX && hasOversizedPart(JSON.parse(text))) return undefined;
      body = parseExactJson(text);
    } catch {
      return undefined;
    }
    if (!isJsonObject(body)) return undefined;
    const report: FitReport = { misfits: 0 };
    const base = this.#fitBase(body, report);
    if (base === MISFIT || !isJsonObject(base)) return undefined;
    const unknown: Record<string, unknown> = {};
    if (this.#keepsUnknown) copyUnknown(body, unknown, KNOWN_FIELDS);
    const sections = SECTIONS.map((name, index) => {
      return JSON.stringify(fitOrEmpty(name, body[name], this.#fitSections[index], report));
    });
    // Serialised separately, because a field called "7" would come first in any object.
    const extra = JSON.stringify(unknown).slice(1, -1);
    const required = JSON.stringify(base).slice(0, -1);
    return { base: extra === "" ? required : `${required},${extra}`, sections, misfits: report.misfits };
  }
}

function fitOrEmpty(
  name: (typeof SECTIONS)[number],
  value: unknown,
  fit: Fit | undefined,
  report: FitReport,
): unknown {
  const isStaff = name === "Staff";
  const isAbsent =
    value === undefined || value === null || (isStaff && Array.isArray(value) && value.length === 0);
  const fitted = isAbsent || !fit ? MISFIT : fit(value, report);
  if (fitted === MISFIT && !isAbsent) report.misfits++;
  if (isStaff) return { ...NO_STAFF, ...(isJsonObject(fitted) ? fitted : {}) };
  return fitted === MISFIT ? [] : fitted;
}
