// The archive over a driver: which question sees one state, and which change is one transaction.
import type { Archive } from "../../core/ports/archive.ts";
import type { Driver, Sql } from "../sql.ts";
import { continueForgetting, finishForgetting, listForgotten, startForgetting } from "./forgetting.ts";
import { listSessions, readCounts, readOpenHistory, readStaff, sumPresence } from "./history-questions.ts";
import {
  findLast,
  findRecorded,
  listStateChanges,
  load,
  readAlertRules,
  readPage,
  record,
  removeServer,
  setAlertRules,
} from "./ledger.ts";
import { addPlaces, findMapImage, listPlaces, readMapImage, removeMapImage, saveMapImage } from "./maps.ts";
import { prune } from "./pruning.ts";
import {
  countWaiting,
  createWebhook,
  deleteWebhook,
  findWebhook,
  listDeliveries,
  listWebhooks,
  noteAttempt,
  updateWebhook,
} from "./webhooks.ts";

type EngineParts = {
  /** Empties the engine's log of changes, which still has rows of a forgotten player. False when that must be tried again. */
  readonly truncateLog?: () => boolean;
  readonly close?: () => Promise<void>;
};

export function createArchive(
  driver: Driver,
  { truncateLog = () => true, close = async () => {} }: EngineParts = {},
): Archive {
  // At first too, because a file that was closed after a failure may have owed it.
  let isTruncationDue = true;
  const truncateIfDue = () => {
    if (isTruncationDue) isTruncationDue = !truncateLog();
  };
  const { query, snapshot, transact } = bind(driver);
  return {
    load: query(load),
    findRecorded: query(findRecorded),
    record: transact(record),
    readPage: snapshot(readPage),
    findLast: query(findLast),
    prune: transact(prune),
    removeServer: transact(removeServer),
    startForgetting: transact(startForgetting),
    continueForgetting: () => {
      truncateIfDue();
      return driver.transact(continueForgetting);
    },
    listForgotten: query(listForgotten),
    finishForgetting: async (playerId) => {
      await driver.transact((sql) => finishForgetting(sql, playerId));
      isTruncationDue = true;
      truncateIfDue();
    },
    addPlaces: transact(addPlaces),
    listPlaces: query(listPlaces),
    saveMapImage: transact(saveMapImage),
    findMapImage: query(findMapImage),
    readMapImage: query(readMapImage),
    removeMapImage: transact(removeMapImage),
    listWebhooks: query(listWebhooks),
    findWebhook: query(findWebhook),
    createWebhook: transact(createWebhook),
    updateWebhook: transact(updateWebhook),
    deleteWebhook: transact(deleteWebhook),
    noteAttempt: transact(noteAttempt),
    listDeliveries: query(listDeliveries),
    countWaiting: snapshot(countWaiting),
    listStateChanges: query(listStateChanges),
    readAlertRules: query(readAlertRules),
    setAlertRules: transact(setAlertRules),
    readCounts: query(readCounts),
    readOpenHistory: query(readOpenHistory),
    listSessions: snapshot(listSessions),
    sumPresence: snapshot(sumPresence),
    readStaff: snapshot(readStaff),
    close,
  };
}

type Work<Args extends readonly unknown[], T> = (sql: Sql, ...args: Args) => Promise<T>;

/** Turns work on the database into a method that runs it in one of the driver's ways. */
function bind(driver: Driver) {
  const inWay =
    (way: "query" | "snapshot" | "transact") =>
    <Args extends readonly unknown[], T>(work: Work<Args, T>) =>
    (...args: Args): Promise<T> =>
      driver[way]((sql) => work(sql, ...args));
  return { query: inWay("query"), snapshot: inWay("snapshot"), transact: inWay("transact") };
}
