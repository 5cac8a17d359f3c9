// An archive whose methods all lead to one function: for a thread that has the archive, and for one that counts the calls.
import type { Archive } from "./ports/archive.ts";

export type ArchiveMethod = keyof Archive;

/** A record, so that a method that is missing here is an error of types. */
const METHODS: Readonly<Record<ArchiveMethod, true>> = {
  load: true,
  findRecorded: true,
  record: true,
  readPage: true,
  findLast: true,
  prune: true,
  removeServer: true,
  startForgetting: true,
  continueForgetting: true,
  listForgotten: true,
  finishForgetting: true,
  addPlaces: true,
  listPlaces: true,
  saveMapImage: true,
  findMapImage: true,
  readMapImage: true,
  removeMapImage: true,
  listWebhooks: true,
  findWebhook: true,
  createWebhook: true,
  updateWebhook: true,
  deleteWebhook: true,
  noteAttempt: true,
  listDeliveries: true,
  countWaiting: true,
  listStateChanges: true,
  readAlertRules: true,
  setAlertRules: true,
  readCounts: true,
  readOpenHistory: true,
  listSessions: true,
  sumPresence: true,
  readStaff: true,
  close: true,
};

export type CallArchive = (method: ArchiveMethod, args: readonly unknown[]) => Promise<unknown>;

export const ARCHIVE_METHODS = Object.keys(METHODS) as readonly ArchiveMethod[];

export function makeArchive(call: CallArchive): Archive {
  const methods = ARCHIVE_METHODS.map((method) => {
    return [method, (...args: readonly unknown[]) => call(method, args)];
  });
  return Object.fromEntries(methods);
}

export function callArchive(
  archive: Archive,
  method: ArchiveMethod,
  args: readonly unknown[],
): Promise<unknown> {
  return Reflect.apply(archive[method], archive, args);
}
