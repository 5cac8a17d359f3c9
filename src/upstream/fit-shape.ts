// Makes untrusted JSON fit a schema: drops the values that do not fit, and counts them. Driven by the schemas, so that the
// fields are listed only in core/wire/server-info.ts.
import type { TSchema } from "typebox";
import { isJsonInteger, isJsonNumber } from "../core/exact-json.ts";

export const INVALID = Symbol("misfit");

export type FitReport = { misfits: number };
export type FitOptions = { readonly keepsUnknown: boolean };

export type Fit = (value: unknown, report: FitReport) => unknown;
type JsonObject = Readonly<Record<string, unknown>>;
/** The keywords of JSON Schema that the shapes use. */
type Shape = {
  type?: string;
  properties?: Record<string, TSchema>;
  required?: string[];
  patternProperties?: Record<string, TSchema>;
  items?: TSchema;
  minItems?: number;
  maxItems?: number;
  anyOf?: TSchema[];
};

/** Compiles a function that returns the fitted copy of a value, or INVALID. */
export function compileFit(schema: TSchema, options: FitOptions): Fit {
  const shape = schema as Shape;
  if (shape.anyOf) return fitAny(shape.anyOf.map((branch) => compileFit(branch, options)));
  switch (shape.type) {
    case "string":
      return (value) => (typeof value === "string" ? value : INVALID);
    case "boolean":
      return (value) => (typeof value === "boolean" ? value : INVALID);
    case "null":
      return (value) => (value === null ? null : INVALID);
    case "integer":
      return (value) => (isJsonInteger(value) ? value : INVALID);
    case "number":
      return (value) => (isJsonNumber(value) ? value : INVALID);
    case "array":
      return fitArray(shape, options);
    case "object":
      return shape.patternProperties
        ? fitMap(shape.patternProperties, options)
        : fitObject(shape.properties ?? {}, new Set(shape.required), options);
    default:
      throw new Error(`cannot fit a schema of type ${shape.type}`);
  }
}

function fitAny(branches: readonly Fit[]): Fit {
  return (value, report) => {
    for (const fit of branches) {
      const fitted = fit(value, report);
      if (fitted !== INVALID) return fitted;
    }
    return INVALID;
  };
}

/** A list of fixed length fits as a whole or not at all. In other lists only the items that do not fit are dropped. */
function fitArray({ items, minItems = 0, maxItems = Number.POSITIVE_INFINITY }: Shape, options: FitOptions): Fit {
  if (!items) throw new Error("a list needs a schema for its items");
  const fitItem = compileFit(items, options);
  const isFixed = minItems === maxItems;
  return (value, report) => {
    if (!Array.isArray(value)) return INVALID;
    if (isFixed && value.length !== minItems) return INVALID;
    const fitted: unknown[] = [];
    for (const item of value) {
      const kept = fitItem(item, report);
      if (kept !== INVALID) fitted.push(kept);
      else if (isFixed) return INVALID;
      else report.misfits++;
    }
    return fitted;
  };
}

/** The game API writes an empty map as []. */
function fitMap(patternProperties: Record<string, TSchema>, options: FitOptions): Fit {
  const fits = Object.entries(patternProperties).map(([pattern, schema]) => {
    return [new RegExp(pattern), compileFit(schema, options)] as const;
  });
  return (value, report) => {
    if (Array.isArray(value) && value.length === 0) return {};
    if (!isJsonObject(value)) return INVALID;
    const fitted: Record<string, unknown> = {};
    for (const [key, item] of Object.entries(value)) {
      const kept = fits.find(([pattern]) => pattern.test(key))?.[1](item, report) ?? INVALID;
      if (kept === INVALID) report.misfits++;
      else fitted[key] = kept;
    }
    return fitted;
  };
}

function fitObject(properties: Record<string, TSchema>, required: ReadonlySet<string>, options: FitOptions): Fit {
  const fields = Object.entries(properties).map(([name, schema]) => {
    return { name, fit: compileFit(schema, options), isRequired: required.has(name) };
  });
  return (value, report) => {
    if (!isJsonObject(value)) return INVALID;
    const fitted: Record<string, unknown> = {};
    for (const { name, fit, isRequired } of fields) {
      const given = Object.hasOwn(value, name) ? value[name] : undefined;
      const kept = given === undefined ? INVALID : fit(given, report);
      if (kept !== INVALID) fitted[name] = kept;
      else if (isRequired) return INVALID;
      else if (given !== undefined) report.misfits++;
    }
    if (options.keepsUnknown) copyUnknown(value, fitted, properties);
    return fitted;
  };
}

export function copyUnknown(from: JsonObject, to: Record<string, unknown>, known: object): void {
  for (const [key, value] of Object.entries(from)) {
    // Assigning to __proto__ would change the copy's prototype instead of adding a field.
    if (!Object.hasOwn(known, key) && key !== "__proto__") to[key] = value;
  }
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);
}
