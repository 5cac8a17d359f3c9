// Opens the archive. It connects at the first use: an archive that is away does not stop a start.
import { PostgresArchive } from "./archive/postgres/postgres-archive.ts";
import { SqliteArchive } from "./archive/sqlite/sqlite-archive.ts";
import { startArchiveThread } from "./threads.ts";

export type ArchivePlace = { readonly path: string } | { readonly postgresUrl: string };

export function openArchive(place: ArchivePlace): SqliteArchive | PostgresArchive {
  if ("path" in place) return new SqliteArchive(place.path, startArchiveThread);
  return new PostgresArchive(place.postgresUrl);
}
