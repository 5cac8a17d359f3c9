// The file of the embedded archive as the thread for questions has it: a read-only connection beside the one that writes. It
// must be opened only while that one is open, which checks the file, makes the tables, and applies what a crash has left.
import { Database } from "bun:sqlite";
import { createFileCheck } from "../../sqlite/database-file.ts";
import { SqliteHistoryQuestions } from "./sqlite-history-questions.ts";

type OpenFile = {
  readonly db: Database;
  readonly questions: SqliteHistoryQuestions;
  /** Throws StoreUnavailable when the path no longer leads to the open file. */
  readonly check: () => void;
};

export class HistoryFile {
  readonly #path: string;
  #open: OpenFile | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  use<T>(access: (questions: SqliteHistoryQuestions) => T): T {
    this.#open ??= openForQuestions(this.#path);
    try {
      this.#open.check();
      return access(this.#open.questions);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  close(): void {
    this.#open?.db.close();
    this.#open = undefined;
  }
}

/** Never reads the file without SQLite: closing such a handle would give up the locks of the connection that writes. */
function openForQuestions(path: string): OpenFile {
  const db = new Database(path, { readonly: true, strict: true });
  try {
    db.exec("PRAGMA busy_timeout = 2000");
    return { db, questions: new SqliteHistoryQuestions(db), check: createFileCheck(path) };
  } catch (error) {
    db.close();
    throw error;
  }
}
