// Which columns of each table the user has hidden. Kept in this browser, for every key.
import { useSyncExternalStore } from "react";

/** The ids of the hidden columns by the name of the table; a table that is not in it was never changed. */
export type HiddenColumns = Readonly<Record<string, readonly string[]>>;

/** The choice is no secret, so it is stored for longer than the tab. */
const STORAGE_KEY = "gatehouse.columns";
const NONE: HiddenColumns = {};
/** More is not what this page has written. */
const TABLES_MAX = 50;
const COLUMNS_MAX = 50;
const NAME_SHAPE = /^[a-zA-Z-]{1,40}$/;

const listeners = new Set<() => void>();
let hidden = readStored();

export function useHiddenColumns(): HiddenColumns {
  return useSyncExternalStore(subscribe, () => hidden);
}

/** `undefined` restores what the table shows at first. */
export function changeHiddenColumns(table: string, columns: readonly string[] | undefined): void {
  const { [table]: _, ...others } = hidden;
  hidden = columns ? { ...others, [table]: columns } : others;
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify(hidden));
  } catch {
    // The browser forbids storage; the choice then lasts until the page is closed.
  }
  for (const listener of listeners) listener();
}

type HideableColumn = {
  readonly id: string;
  readonly isHiddenAtFirst?: boolean;
  readonly isButtons?: boolean;
};

/** The columns to show. The first one and the buttons of a row cannot be hidden. */
export function listShownColumns<Column extends HideableColumn>(
  columns: readonly Column[],
  chosen: readonly string[] | undefined,
): readonly Column[] {
  return columns.filter((column, index) => {
    if (index === 0 || column.isButtons) return true;
    return chosen ? !chosen.includes(column.id) : !column.isHiddenAtFirst;
  });
}

/** `text` may be anything: another page of this host, or the user, may have written it. */
export function parseHiddenColumns(text: string | null): HiddenColumns {
  try {
    const stored: unknown = JSON.parse(text ?? "null");
    if (typeof stored !== "object" || stored === null || Array.isArray(stored)) return NONE;
    const tables = Object.entries(stored).slice(0, TABLES_MAX);
    return Object.fromEntries(
      tables.flatMap(([table, columns]) =>
        NAME_SHAPE.test(table) && Array.isArray(columns)
          ? [[table, columns.slice(0, COLUMNS_MAX).filter(isName)]]
          : [],
      ),
    );
  } catch {
    return NONE;
  }
}

function isName(value: unknown): value is string {
  return typeof value === "string" && NAME_SHAPE.test(value);
}

function readStored(): HiddenColumns {
  try {
    return parseHiddenColumns(localStorage.getItem(STORAGE_KEY));
  } catch {
    return NONE;
  }
}

function subscribe(listener: () => void): () => void {
  // Another tab may change the columns.
  const takeOver = ({ key }: StorageEvent) => {
    if (key !== STORAGE_KEY) return;
    hidden = readStored();
    listener();
  };
  listeners.add(listener);
  addEventListener("storage", takeOver);
  return () => {
    listeners.delete(listener);
    removeEventListener("storage", takeOver);
  };
}
