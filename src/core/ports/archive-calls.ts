// An archive whose methods all lead to one function: for a thread that has the archive, and for one that counts the calls.
import type { Archive } from "./archive.ts";

export type ArchiveMethod = keyof Archive;

/**
 * Whether a method only reads and may take long, so that it must not delay what is recorded. A record, so that a method that is
 * missing here is an error of types.
 */
const METHODS: Readonly<Record<ArchiveMethod, boolean>> = {
  load: false,
  findRecorded: false,
  record: false,
  readPage: false,
  findLast: false,
  prune: false,
  removeServer: false,
  startForgetting: false,
  continueForgetting: false,
  listForgotten: false,
  finishForgetting: false,
  addPlaces: false,
  listPlaces: false,
  saveMapImage: false,
  findMapImage: false,
  readMapImage: false,
  removeMapImage: false,
  listWebhooks: false,
  findWebhook: false,
  createWebhook: false,
  updateWebhook: false,
  deleteWebhook: false,
  noteAttempt: false,
  listDeliveries: false,
  countWaiting: false,
  listStateChanges: false,
  listAlertStates: false,
  readAlertRules: false,
  setAlertRules: false,
  readCounts: true,
  readHours: true,
  readOpenHistory: true,
  isInGap: true,
  listSessions: true,
  sumPresence: true,
  readStaff: true,
  searchPlayers: true,
  readPlayer: true,
  listNotes: true,
  addNote: false,
  deleteNote: false,
  listModCalls: true,
  changeClaim: false,
  close: false,
};

export type CallArchive = (method: ArchiveMethod, args: readonly unknown[]) => Promise<unknown>;

export const ARCHIVE_METHODS = Object.keys(METHODS) as readonly ArchiveMethod[];

export function isQuestion(method: ArchiveMethod): boolean {
  return METHODS[method];
}

export function makeArchive(call: CallArchive): Archive {
  const methods = ARCHIVE_METHODS.map((method) => {
    return [method, (...args: readonly unknown[]) => call(method, args)];
  });
  return Object.fromEntries(methods);
}

export function callArchive(archive: Archive, method: ArchiveMethod, args: readonly unknown[]): Promise<unknown> {
  return Reflect.apply(archive[method], archive, args);
}
