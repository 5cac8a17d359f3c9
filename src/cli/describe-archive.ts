// What backup and restore say about the archive.
import type { Config } from "../config.ts";
import { formatBytes } from "../core/byte-size.ts";

export type ArchiveCopy = {
  readonly file: string;
  readonly sizeBytes: number;
  readonly servers: number;
  readonly events: number;
};

export function describeArchiveCopy(copy: ArchiveCopy | undefined, absence: string): string[] {
  if (!copy) return [`  archive  ${absence}`];
  const { file, sizeBytes, servers, events } = copy;
  return [
    `  archive  ${file}`,
    `           servers: ${servers}, events: ${events}, ${formatBytes(sizeBytes)}`,
  ];
}

export function toArchiveJson(copy: ArchiveCopy | undefined): Record<string, unknown> | null {
  if (!copy) return null;
  const { file, sizeBytes, servers, events } = copy;
  return { file, size_bytes: sizeBytes, servers, events };
}

/** GATEHOUSE_ARCHIVE names a PostgreSQL, which has its own means. */
export function hasPostgresArchive({ archive }: Pick<Config, "archive">): boolean {
  return typeof archive === "object";
}
