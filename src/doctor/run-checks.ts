// Runs every check, one after another. Changes nothing: no files, no settings, no running instance.
import { resolve } from "node:path";
import { deriveNoticesToken } from "../core/keys/token.ts";
import { TIMER_MAX_MS } from "../core/ports/clock.ts";
import type { WebhookSealer } from "../core/ports/webhooks.ts";
import { inspectArchive, readSealedWebhooks } from "../database/archive/inspect-archive.ts";
import { createWebhookSealer, Sealer } from "../database/sealer.ts";
import { isInstanceRunning } from "../database/sqlite-file/read-only-database.ts";
import {
  type DatabaseReport,
  inspectDatabase,
  readAddressLists,
  readServerKeys,
  readServerMarks,
} from "../database/store/inspect-store.ts";
import { DEMO_SERVER_KEY } from "../demo.ts";
import type { Config } from "../instance/config.ts";
import { measureDisk } from "../instance/machine-watch.ts";
import { UpstreamClient } from "../upstream/client.ts";
import { callInstance, findInstanceUrl, judgeInstance } from "./call-instance.ts";
import { readCallNotes } from "./call-notes.ts";
import { judgeAddressLists } from "./check-address-lists.ts";
import { findSecret, inspectDataFolder, judgeDataFolder } from "./check-data-folder.ts";
import { inspectExposure, judgeExposure } from "./check-exposure.ts";
import { callGameApi, type GameApiFacts, judgeGameApi } from "./check-game-api.ts";
import { judgeClock, judgeDisk, judgeOpenFileLimit, readOpenFileLimit } from "./check-machine.ts";
import {
  inspectPostgres,
  judgePostgres,
  judgeStoreContents,
  readStoreContents,
  readWebhooks,
} from "./check-postgres.ts";
import { inspectRedis, judgeRedis } from "./check-redis.ts";
import { applyRefusedKeys, judgeServerKeys, type KeyFacts, testServerKeys } from "./check-server-keys.ts";
import { judgeSettings, readSettings } from "./check-settings.ts";
import { judgeArchiveFile, judgeServerMarks, judgeStore } from "./check-store.ts";
import { inspectTlsFiles, judgeTls } from "./check-tls.ts";
import { judgeWebhooks } from "./check-webhooks.ts";
import { type Finding, reportAs } from "./finding.ts";

/** Without these, the notes about the game API cannot be found. */
const NOTES_SETTINGS = ["GATEHOUSE_DATA_DIR", "GATEHOUSE_STORE", "GATEHOUSE_UPSTREAM_GLOBAL_KEY"];

export type CheckOptions = {
  /** The caller's folder, where .env is. */
  readonly folder: string;
  readonly overrides: Readonly<Record<string, string>>;
  readonly testsKeys: boolean;
  /** Whether the runtime was told to accept every certificate. */
  readonly acceptsAllCertificates: boolean;
};

export async function runChecks(options: CheckOptions): Promise<Finding[]> {
  const { folder, overrides, testsKeys, acceptsAllCertificates } = options;
  const { config, faults, faultyNames } = readSettings(folder, overrides);
  const settings = judgeSettings({ faults, unknown: config?.unknownSettings ?? [] });
  const openFiles = () => judgeOpenFileLimit(readOpenFileLimit());
  if (!config) return [...settings, ...(await runCheck("open files", openFiles))];

  const isTlsFaulty = faultyNames.has("GATEHOUSE_TLS_CERT") || faultyNames.has("GATEHOUSE_TLS_KEY");
  const areNotesKnown = !NOTES_SETTINGS.some((name) => faultyNames.has(name));
  const facts = config.upstreamUrl === undefined ? "simulator" : await callConfiguredGameApi(config, areNotesKnown);
  const answer = facts !== "simulator" && facts.kind === "answered" ? facts : undefined;
  const isUpstreamFaulty = faultyNames.has("GATEHOUSE_UPSTREAM_URL");
  return [
    ...settings,
    ...(faultyNames.has("GATEHOUSE_DATA_DIR")
      ? reportAs("data folder").skip("Not checked: GATEHOUSE_DATA_DIR is not usable.")
      : await checkDataFolder(config, testsKeys && !isUpstreamFaulty && areNotesKnown, answer?.status === 429)),
    ...(await runCheck("clock", () => judgeClock(Date.now(), answer?.offsetMs))),
    ...(await runCheck("TLS", () => {
      const paths = config.tls;
      return judgeTls(paths ? inspectTlsFiles(paths) : isTlsFaulty ? undefined : "none", Date.now());
    })),
    ...(await runCheck("exposure", () => {
      return judgeExposure(inspectExposure(config, folder, acceptsAllCertificates));
    })),
    ...(isUpstreamFaulty
      ? reportAs("game API").skip("Not checked: GATEHOUSE_UPSTREAM_URL is not usable.")
      : judgeGameApi(facts, config.upstreamUrl ?? "")),
    ...(await runCheck("open files", openFiles)),
  ];
}

async function checkDataFolder(config: Config, testsKeys: boolean, isLimited: boolean): Promise<Finding[]> {
  const path = resolve(config.dataDir);
  const databasePath = `${path}/gatehouse.db`;
  const secret = config.secret ?? findSecret(path, "secret.key");
  const sealer = secret === undefined ? undefined : new Sealer(secret);
  let report: DatabaseReport = { kind: "absent" };
  return [
    ...(await runCheck("data folder", () => judgeDataFolder(inspectDataFolder(path), path))),
    ...(await runCheck("store", async () => {
      if (config.store !== "sqlite") return checkPostgresStore(config.store.postgresUrl, sealer);
      report = inspectDatabase(databasePath, sealer);
      return judgeStore(report, databasePath, secret !== undefined);
    })),
    ...(await runCheck("redis", async () => (config.redis ? judgeRedis(await inspectRedis(config.redis)) : []))),
    ...(await runCheck("archive", () =>
      checkArchive(config, path, sealer === undefined ? undefined : createWebhookSealer(sealer)),
    )),
    ...(await runCheck("server keys", async () => {
      const canRead = report.kind === "usable" && report.isSecretRight === true;
      const readablePath = canRead ? databasePath : undefined;
      return judgeServerKeys(await gatherKeyFacts(config, testsKeys, readablePath, secret, isLimited));
    })),
    ...(await runCheck("servers", () => {
      // A running instance tells its parked servers itself.
      if (report.kind !== "usable" || isInstanceRunning(databasePath)) return [];
      return judgeServerMarks(readServerMarks(databasePath), config.upstreamUrl === undefined);
    })),
    ...(await runCheck("address lists", () => {
      const keys = report.kind === "usable" ? readAddressLists(databasePath) : undefined;
      return judgeAddressLists({ keys, trustProxy: config.trustProxy, host: config.host });
    })),
    ...(await runCheck("instance", async () => {
      const url = findInstanceUrl(config);
      const canBeRunning = config.store !== "sqlite" || isInstanceRunning(databasePath);
      const masterKey = config.masterKey ?? findSecret(path, "master.key");
      const noticesToken = masterKey === undefined ? undefined : deriveNoticesToken(masterKey);
      const answer = canBeRunning ? await callInstance(url, noticesToken) : undefined;
      // With PostgreSQL, nothing on this machine shows whether an instance should run here.
      const isAbsent = config.store !== "sqlite" && answer !== undefined && "error" in answer;
      return judgeInstance(isAbsent ? undefined : answer, url);
    })),
    ...(await runCheck("disk", async () => judgeDisk(await measureDisk(path)))),
  ];
}

async function checkPostgresStore(url: string, sealer: Sealer | undefined): Promise<Finding[]> {
  const { facts, found } = await inspectPostgres(url, "store", (sql) => readStoreContents(sql, sealer));
  return [...judgePostgres(facts, "store"), ...(found ? judgeStoreContents(found) : [])];
}

async function checkArchive(
  { archive }: Config,
  folder: string,
  sealer: WebhookSealer | undefined,
): Promise<Finding[]> {
  if (typeof archive === "object") {
    const { facts, found = [] } = await inspectPostgres(archive.postgresUrl, "archive", readWebhooks);
    return [...judgePostgres(facts, "archive"), ...judgeWebhooks(found, sealer)];
  }
  if (archive === "off")
    return reportAs("archive").skip("There is none: GATEHOUSE_ARCHIVE is off, so events are not kept.");
  const path = `${folder}/archive.db`;
  const report = inspectArchive(path);
  const webhooks = report.kind === "usable" ? readSealedWebhooks(path) : [];
  return [...judgeArchiveFile(report, path), ...judgeWebhooks(webhooks, sealer)];
}

async function gatherKeyFacts(
  config: Config,
  testsKeys: boolean,
  databasePath: string | undefined,
  secret: string | undefined,
  isLimited: boolean,
): Promise<KeyFacts> {
  if (config.upstreamUrl === undefined) return { kind: "simulator" };
  if (databasePath === undefined || secret === undefined) return { kind: "no-store" };
  if (!testsKeys) return { kind: "not-tested" };
  // Read again: the checks before may have taken long.
  const { pauseMs, refusedKeys, globalKeyFailure } = await readCallNotes(config);
  if (globalKeyFailure) return { kind: "global-key-refused" };
  // A key of the simulator must never reach a real game API. Older databases do not mark the demo server.
  const isOfDemo = (serverKey: string) => serverKey === DEMO_SERVER_KEY;
  const servers = readServerKeys(databasePath, new Sealer(secret), isOfDemo);
  const { known, untested } = applyRefusedKeys(servers, refusedKeys);
  if (pauseMs > 0) return { kind: "paused", pauseMs, known };
  if (isLimited) return { kind: "limited", known };
  const upstream = new UpstreamClient({
    baseUrl: config.upstreamUrl,
    globalKey: config.upstreamGlobalKey,
    timeoutMs: Math.min(config.upstreamTimeoutMs, TIMER_MAX_MS),
    keepsUnknown: false,
    clock: Date.now,
  });
  const results = await testServerKeys(upstream, untested, Bun.sleep);
  return { kind: "tested", total: servers.length, results: [...known, ...results] };
}

async function callConfiguredGameApi(config: Config, areNotesKnown: boolean): Promise<GameApiFacts> {
  // A store that cannot be read is reported by its own check.
  const notes = areNotesKnown ? await readCallNotes(config).catch(() => undefined) : undefined;
  if (!notes) return { kind: "not-called" };
  const { pauseMs, globalKeyFailure } = notes;
  if (globalKeyFailure) return { kind: "global-key-refused", failure: globalKeyFailure };
  if (pauseMs > 0) return { kind: "paused", pauseMs };
  return callGameApi(config.upstreamUrl ?? "", config.upstreamTimeoutMs);
}

/** A check that throws becomes a finding, so that the other checks still run. */
async function runCheck(name: string, check: () => Finding[] | Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await check();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const remedy = "Run the command as the user that Gatehouse runs as, and check the permissions of the data folder.";
    return reportAs(name).fail(`This could not be checked: ${reason}.`, remedy);
  }
}
