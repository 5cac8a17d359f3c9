// Prints resources from one list of fields a resource: some of them as columns of a table, or all of them one by one.
import type { Cell, Field, Printer } from "./printer.ts";
import type { Column } from "./table-layout.ts";
import { formatMoment, formatRelativeTime, formatShortTime } from "./times.ts";

/** Where and when a resource is shown. */
export type Look = {
  readonly now: number;
  /** In a table there is room for the short form only. */
  readonly isTable: boolean;
  /** The name for an id; the id itself when it has none. */
  readonly nameOf: (id: string) => string;
};

export type ResourceField<T> = Omit<Column, "title"> & {
  /** In small letters, as a field; in capitals, as a column. */
  readonly name: string;
  /** Null leaves the field out of a single resource. */
  readonly show: (resource: T, look: Look) => Cell | null;
};

export type Screen = { readonly printer: Printer; readonly now: () => number };

/** The columns are the fields of these names, in this order; all fields when it is left out. */
export function printResources<T>(
  { printer, now }: Screen,
  fields: readonly ResourceField<T>[],
  resources: readonly T[],
  columns: readonly string[] = fields.map(({ name }) => name),
  names: ReadonlyMap<string, string> = new Map(),
): void {
  const shown = columns.flatMap((column) => fields.find(({ name }) => name === column) ?? []);
  const look: Look = { now: now(), isTable: true, nameOf: (id) => names.get(id) ?? id };
  printer.printTable(
    shown.map(({ name, ...column }) => ({ title: name.toUpperCase(), ...column })),
    resources.map((resource) => shown.map(({ show }) => show(resource, look) ?? "-")),
  );
}

export function listFields<T>(
  fields: readonly ResourceField<T>[],
  resource: T,
  now: number,
  nameOf: Look["nameOf"] = (id) => id,
): Field[] {
  return fields.flatMap(({ name, show }): Field[] => {
    const value = show(resource, { now, isTable: false, nameOf });
    return value === null ? [] : [[name, value]];
  });
}

/** "2026-11-15 05:39:50Z (5 minutes ago)", in a table "5m ago"; `none` when there is no such moment. */
export function showMoment(moment: number | null, { now, isTable }: Pick<Look, "now" | "isTable">, none = "never") {
  if (moment === null) return none;
  return isTable ? formatShortTime(moment, now) : `${formatMoment(moment)} (${formatRelativeTime(moment, now)})`;
}

export function listOr(items: readonly string[], none: string): string {
  return items.length === 0 ? none : items.join(", ");
}
