// Translates SQLite's errors to StoreUnavailable. Any other error is a bug and is not translated.
import { SQLiteError } from "bun:sqlite";
import { StoreUnavailable } from "../../core/errors.ts";

/** Bun throws plain errors with these messages when the database is closed, which happens at the end of a drain. */
const CLOSED_MESSAGES = new Set(["Database has closed", "Cannot use a closed database"]);

export function translateSqliteErrors<T>(access: () => T): T {
  try {
    return access();
  } catch (error) {
    throw toStoreError(error);
  }
}

export function toStoreError(error: unknown): unknown {
  return isSqliteError(error) ? new StoreUnavailable(error.message, { cause: error }) : error;
}

function isSqliteError(error: unknown): error is Error {
  return error instanceof SQLiteError || (error instanceof Error && CLOSED_MESSAGES.has(error.message));
}
