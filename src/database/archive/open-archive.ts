// Opens the archive, which connects at its first use, and checks it at a start.
import { ArchiveUnavailable } from "../../core/errors.ts";
import type { Archive } from "../../core/ports/archive.ts";
import { PostgresDriver, PostgresTooOld } from "../postgres.ts";
import { createArchive } from "./archive.ts";
import { type EmbeddedArchive, openEmbeddedArchive } from "./embedded-archive.ts";
import { ARCHIVE_MIGRATIONS } from "./migrations.ts";

export type ArchivePlace = { readonly path: string } | { readonly postgresUrl: string };

/** Of the store's database, when the archive is in it: whether it answers, and the id under which this instance may write. */
export type DatabaseState = { readonly instanceId: string | undefined; readonly isUp: boolean };

export type PostgresArchive = Archive & {
  /** Throws ArchiveUnavailable with the reason when the database cannot be used, PostgresTooOld as its cause if that is it. */
  check(): Promise<void>;
  /** Gives up every query under way, because the database is away. */
  reset(): void;
};

export function openArchive(
  place: ArchivePlace,
  startThread: () => Worker,
  findState?: () => DatabaseState | undefined,
): EmbeddedArchive | PostgresArchive {
  if ("path" in place) return openEmbeddedArchive(place.path, startThread);
  return openPostgresArchive(place.postgresUrl, findState);
}

/** `findState` is undefined, or returns undefined, when the store is elsewhere. */
export function openPostgresArchive(
  url: string,
  findState: () => DatabaseState | undefined = () => undefined,
): PostgresArchive {
  const driver = new PostgresDriver({
    url,
    migrations: ARCHIVE_MIGRATIONS,
    Unavailable: ArchiveUnavailable,
    findInstanceId: () => findState()?.instanceId,
    isUp: () => findState()?.isUp ?? true,
  });
  return {
    ...createArchive(driver, { close: () => driver.close() }),
    check: () => driver.check(),
    reset: () => driver.reset(),
  };
}

/** `refusal`: the start must be refused, because only the operator can help. `problem`: why the archive is away now. */
export type ArchiveVerdict = { readonly refusal: string } | { readonly problem: string | undefined };

/** An archive that is away does not stop a start; a PostgreSQL that is too old does. */
export async function checkArchive(archive: ReturnType<typeof openArchive>): Promise<ArchiveVerdict> {
  if ("findRefusal" in archive) return { problem: await archive.findRefusal() };
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
