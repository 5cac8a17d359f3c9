// The archive over a driver: which question sees one state, and which change is one transaction.
import type { Archive } from "../../core/ports/archive.ts";
import type { Driver, Sql } from "../sql.ts";
import { continueForgetting, finishForgetting, listForgotten, startForgetting } from "./forgetting.ts";
import * as history from "./history-questions.ts";
import { searchPlayers } from "./known-players.ts";
import * as ledger from "./ledger.ts";
import * as maps from "./maps.ts";
import { changeClaim, listModCalls } from "./mod-calls.ts";
import { addNote, deleteNote, listNotes, readPlayer } from "./notes.ts";
import { prune } from "./pruning.ts";
import * as webhooks from "./webhooks.ts";

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
    load: query(ledger.load),
    findRecorded: query(ledger.findRecorded),
    record: transact(ledger.record),
    readPage: snapshot(ledger.readPage),
    findLast: query(ledger.findLast),
    prune: transact(prune),
    removeServer: transact(ledger.removeServer),
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
    addPlaces: transact(maps.addPlaces),
    listPlaces: query(maps.listPlaces),
    saveMapImage: transact(maps.saveMapImage),
    findMapImage: query(maps.findMapImage),
    readMapImage: query(maps.readMapImage),
    removeMapImage: transact(maps.removeMapImage),
    listWebhooks: query(webhooks.listWebhooks),
    findWebhook: query(webhooks.findWebhook),
    createWebhook: transact(webhooks.createWebhook),
    updateWebhook: transact(webhooks.updateWebhook),
    deleteWebhook: transact(webhooks.deleteWebhook),
    noteAttempt: transact(webhooks.noteAttempt),
    listDeliveries: query(webhooks.listDeliveries),
    countWaiting: snapshot(webhooks.countWaiting),
    listStateChanges: query(ledger.listStateChanges),
    listAlertStates: query(ledger.listAlertStates),
    readAlertRules: query(ledger.readAlertRules),
    setAlertRules: transact(ledger.setAlertRules),
    readCounts: query(history.readCounts),
    readHours: query(history.readHours),
    readOpenHistory: query(history.readOpenHistory),
    isInGap: query(history.isInGap),
    listSessions: snapshot(history.listSessions),
    sumPresence: snapshot(history.sumPresence),
    readStaff: snapshot(history.readStaff),
    searchPlayers: snapshot(searchPlayers),
    readPlayer: snapshot(readPlayer),
    listNotes: snapshot(listNotes),
    addNote: transact(addNote),
    deleteNote: transact(deleteNote),
    listModCalls: snapshot(listModCalls),
    changeClaim: transact(changeClaim),
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
