// The archive as the gateway uses it: every call goes to the reading thread, which has the only threads with connections to it.
// Another reader of the embedded archive's file would be a danger: closing a handle of a file that SQLite does not know of gives
// up all locks that a process has on it.
import type { Archive } from "../core/ports/archive.ts";

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

export function makeArchive(call: CallArchive): Archive {
  const methods = Object.keys(METHODS).map((method) => {
    return [method, (...args: readonly unknown[]) => call(method as ArchiveMethod, args)];
  });
  return Object.fromEntries(methods);
}

export function callArchive(archive: Archive, method: ArchiveMethod, args: readonly unknown[]): unknown {
  return Reflect.apply(archive[method], archive, args);
}
