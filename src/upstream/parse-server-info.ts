// Turns the body of a good answer into a checked ServerInfo, as text that can be sent on.
import Type from "typebox";
import type { ServerParts } from "../core/ports/upstream.ts";
import { SECTIONS } from "../core/sections.ts";
import { SectionSchemas, ServerBase } from "../core/wire/server-info.ts";
import { parseExactJson } from "./exact-json.ts";
import { compileFit, copyUnknown, type FitReport, isJsonObject, MISFIT } from "./fit-shape.ts";

export type ParseServerInfo = (text: string) => ServerParts | undefined;

/** Staff's three maps are always there, so each is fitted by itself: one bad map must not empty the others. */
const LooseStaff = Type.Partial(SectionSchemas.Staff);
const NO_STAFF = { Admins: {}, Mods: {}, Helpers: {} };

/** The parser returns undefined for what cannot be a ServerInfo. */
export function createServerInfoParser(options: { readonly keepsUnknown: boolean }): ParseServerInfo {
  const fitBase = compileFit(ServerBase, { keepsUnknown: false });
  const fitSection = SECTIONS.map((name) => {
    return compileFit(name === "Staff" ? LooseStaff : SectionSchemas[name], options);
  });
  const known = { ...ServerBase.properties, ...SectionSchemas };

  return (text) => {
    let body: unknown;
    try {
      body = parseExactJson(text);
    } catch {
      return undefined;
    }
    if (!isJsonObject(body)) return undefined;
    const report: FitReport = { misfits: 0 };
    const base = fitBase(body, report);
    if (base === MISFIT || !isJsonObject(base)) return undefined;
    const unknown: Record<string, unknown> = {};
    if (options.keepsUnknown) copyUnknown(body, unknown, known);
    const sections = SECTIONS.map((name, index) => {
      return JSON.stringify(fitOrEmpty(name, body[name], fitSection[index], report));
    });
    // Written apart, because a field called "7" would come first in any object.
    const extra = JSON.stringify(unknown).slice(1, -1);
    const required = JSON.stringify(base).slice(0, -1);
    return { base: extra === "" ? required : `${required},${extra}`, sections, misfits: report.misfits };
  };
}

function fitOrEmpty(
  name: (typeof SECTIONS)[number],
  value: unknown,
  fit: ReturnType<typeof compileFit> | undefined,
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
