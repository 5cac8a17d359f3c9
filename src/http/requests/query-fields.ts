// The fields of a query: what is told about each, its schema, and the check that belongs to it. Every fault is named at once.
import Type from "typebox";
import { type Refusal, refuseFields } from "../../core/errors.ts";
import type { Call } from "../call.ts";

/** No request needs so many. Later ones are ignored, so that they cost no time. */
export const PARAMETERS_MAX = 1_000;
export const TWICE = "is given twice";
/** Numbers may have leading zeros up to this length. */
const DIGITS_MIN = 3;

export type QueryField<T = unknown> = {
  readonly description: string;
  readonly schema: Type.TSchema;
  readonly example?: unknown;
  /** The value of a text; undefined when it is wrong. */
  readonly read: (text: string) => T | undefined;
  /** Completes the error message for a wrong value. */
  readonly fault: string;
  /** Whether an empty value is the same as none. */
  readonly mayBeEmpty?: boolean;
  /** The error message for a field that is given twice. */
  readonly twice?: string;
};
export type QueryFields = Readonly<Record<string, QueryField>>;
export type QueryValues<Q extends QueryFields> = {
  readonly [Name in keyof Q]: Q[Name] extends QueryField<infer T> ? T | undefined : never;
};
export type Faults = Record<string, string>;

type About = Pick<QueryField, "description" | "example" | "twice">;

export function wholeNumber(min: number, max: number, about: About & { readonly default?: number }) {
  const { default: value, ...rest } = about;
  const shape = new RegExp(`^${min < 0 ? "-?" : ""}\\d{1,${Math.max(DIGITS_MIN, String(max).length)}}$`);
  return {
    fault: `must be a whole number from ${min} to ${max}`,
    ...rest,
    schema: Type.Integer({ minimum: min, maximum: max, ...(value !== undefined && { default: value }) }),
    read(text: string) {
      const number = shape.test(text) ? Number(text) : Number.NaN;
      return number >= min && number <= max ? number : undefined;
    },
  };
}

/** `schema` is that of the choices, when they have one already. */
export function oneOf<T extends string>(known: readonly T[], about: About & { readonly schema?: Type.TSchema }) {
  return {
    schema: Type.Enum([...known]),
    ...about,
    fault: `must be one of ${known.join(", ")}`,
    read: (text: string) => known.find((each) => each === text),
  };
}

/** Any text, unless `shape` says what it must look like. The schema tells the shape too. */
export function textLike(
  fault: string,
  schema: Type.TSchema,
  about: About & { readonly mayBeEmpty?: boolean },
  shape?: RegExp,
) {
  return { ...about, schema, fault, read: (text: string) => (shape?.test(text) === false ? undefined : text) };
}

/** The values that the query has; undefined where it has none or a wrong one, which is then among the faults. */
export function readFields<Q extends QueryFields>(fields: Q, query: URLSearchParams, faults: Faults): QueryValues<Q> {
  const values: Record<string, unknown> = {};
  for (const [name, { read, fault, twice = fault, mayBeEmpty }] of Object.entries(fields)) {
    const [text, another] = query.getAll(name);
    if (text === undefined || (mayBeEmpty && text === "" && another === undefined)) continue;
    values[name] = another === undefined ? read(text) : undefined;
    if (values[name] === undefined) faults[name] = another === undefined ? fault : twice;
  }
  return values as QueryValues<Q>;
}

export function refuseFaults(faults: Faults): Refusal | undefined {
  return Object.keys(faults).length > 0 ? refuseFields(faults) : undefined;
}

export function queryOf(call: Call): URLSearchParams {
  const { query } = call.target;
  let end = -1;
  for (let count = 0; count < PARAMETERS_MAX; count++) {
    end = query.indexOf("&", end + 1);
    if (end === -1) return new URLSearchParams(`?${query}`);
  }
  return new URLSearchParams(`?${query.slice(0, end)}`);
}
