// Opens the archive, which connects at its first use, and checks it at a start.
import { PostgresArchive } from "./archive/postgres/postgres-archive.ts";
import { PostgresTooOld } from "./archive/postgres/postgres-connection.ts";
import { SqliteArchive } from "./archive/sqlite/sqlite-archive.ts";
import { ArchiveUnavailable } from "./core/errors.ts";
import { startArchiveThread } from "./threads.ts";

export type ArchivePlace = { readonly path: string } | { readonly postgresUrl: string };

export function openArchive(place: ArchivePlace): SqliteArchive | PostgresArchive {
  if ("path" in place) return new SqliteArchive(place.path, startArchiveThread);
  return new PostgresArchive(place.postgresUrl);
}

/** `refusal`: the start must be refused, because only the operator can help. `problem`: why the archive is away now. */
export type ArchiveVerdict = { readonly refusal: string } | { readonly problem: string | undefined };

/** An archive that is away does not stop a start; a PostgreSQL that is too old does. */
export async function checkArchive(archive: ReturnType<typeof openArchive>): Promise<ArchiveVerdict> {
  if (archive instanceof SqliteArchive) return { problem: await archive.findRefusal() };
  try {
    await archive.check();
    return { problem: undefined };
  } catch (error) {
    if (!(error instanceof ArchiveUnavailable)) throw error;
    const { message, cause } = error;
    if (cause instanceof PostgresTooOld) return { refusal: `GATEHOUSE_ARCHIVE cannot be used: ${message}` };
    return { problem: message };
  }
}
