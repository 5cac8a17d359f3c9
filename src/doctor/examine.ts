// Runs every check, one after another, and changes nothing: neither files, nor settings, nor an instance that runs.
import { resolve } from "node:path";
import type { Config } from "../config.ts";
import { createSealer } from "../store/sealer.ts";
import { type DatabaseReport, inspectDatabase } from "../store/sqlite/inspect-database.ts";
import { isInstanceRunning } from "../store/sqlite/read-database.ts";
import { readServerKeys } from "../store/sqlite/read-server-keys.ts";
import { UpstreamClient } from "../upstream/client.ts";
import { askInstance, findInstanceUrl } from "./ask-instance.ts";
import { judgeClock } from "./check-clock.ts";
import { findSecret, judgeDataFolder, lookAtDataFolder } from "./check-data-folder.ts";
import { judgeDisk, lookAtDisk } from "./check-disk.ts";
import { askGameApi, judgeGameApi } from "./check-game-api.ts";
import { judgeInstance } from "./check-instance.ts";
import { judgeOpenFileLimit, lookAtOpenFileLimit } from "./check-open-files.ts";
import { judgeRedis, lookAtRedis } from "./check-redis.ts";
import { askServerKeys, judgeServerKeys, type KeyFacts, SERVERS_ASKED_MAX } from "./check-server-keys.ts";
import { judgeSettings, readSettings } from "./check-settings.ts";
import { judgeStore } from "./check-store.ts";
import { judgeTls, lookAtTlsFiles } from "./check-tls.ts";
import { type Finding, fail, skip } from "./finding.ts";

/** Timers count to 2^31 - 1. */
const TIMER_MAX_MS = 2 ** 31 - 1;

export type ExamineOptions = {
  /** The caller's folder, where .env is. */
  readonly folder: string;
  readonly overrides: Readonly<Record<string, string>>;
  readonly asksKeys: boolean;
};

export async function examine({ folder, overrides, asksKeys }: ExamineOptions): Promise<Finding[]> {
  const { config, faults, faultyNames } = readSettings(folder, overrides);
  const settings = judgeSettings({ faults, unknown: config?.unknownSettings ?? [] });
  const openFiles = () => judgeOpenFileLimit(lookAtOpenFileLimit());
  if (!config) return [...settings, ...(await attempt("open files", openFiles))];

  const isTlsFaulty = faultyNames.has("GATEHOUSE_TLS_CERT") || faultyNames.has("GATEHOUSE_TLS_KEY");
  const facts = config.upstreamUrl === undefined ? "simulator" : await askGameApiOf(config);
  const skewMs = facts !== "simulator" && facts.kind === "answered" ? facts.skewMs : undefined;
  const isUpstreamFaulty = faultyNames.has("GATEHOUSE_UPSTREAM_URL");
  return [
    ...settings,
    ...(faultyNames.has("GATEHOUSE_DATA_DIR")
      ? [skip("data folder", "Not checked: GATEHOUSE_DATA_DIR is not usable.")]
      : await examineDataFolder(config, asksKeys && !isUpstreamFaulty)),
    ...(await attempt("clock", () => judgeClock(Date.now(), skewMs))),
    ...(await attempt("TLS", () => {
      const paths = config.tls;
      return judgeTls(paths ? lookAtTlsFiles(paths) : isTlsFaulty ? undefined : "none", Date.now());
    })),
    ...(isUpstreamFaulty
      ? [skip("game API", "Not asked: GATEHOUSE_UPSTREAM_URL is not usable.")]
      : judgeGameApi(facts, config.upstreamUrl ?? "")),
    ...(await attempt("open files", openFiles)),
  ];
}

async function examineDataFolder(config: Config, asksKeys: boolean): Promise<Finding[]> {
  const path = resolve(config.dataDir);
  const databasePath = `${path}/gatehouse.db`;
  const secret = config.secret ?? findSecret(path, "secret.key");
  const sealer = secret === undefined ? undefined : createSealer(secret);
  let report: DatabaseReport = { kind: "absent" };
  return [
    ...(await attempt("data folder", () => judgeDataFolder(lookAtDataFolder(path), path))),
    ...(await attempt("store", async () => {
      if (config.redis) return judgeRedis(await lookAtRedis(config.redis, sealer));
      report = inspectDatabase(databasePath, sealer);
      return judgeStore(report, databasePath, secret !== undefined);
    })),
    ...(await attempt("server keys", async () => {
      const canRead = report.kind === "usable" && report.isSecretRight === true;
      return judgeServerKeys(
        await gatherKeyFacts(config, asksKeys, canRead ? databasePath : undefined, secret),
      );
    })),
    ...(await attempt("instance", async () => {
      const url = findInstanceUrl(config);
      const mayRun = config.redis !== undefined || isInstanceRunning(databasePath);
      const answer = mayRun ? await askInstance(url) : undefined;
      // With a Redis nothing on this machine tells whether an instance should be running here.
      const isNone = config.redis !== undefined && answer !== undefined && "error" in answer;
      return judgeInstance(isNone ? undefined : answer, url);
    })),
    ...(await attempt("disk", () => judgeDisk(lookAtDisk(path)))),
  ];
}

async function gatherKeyFacts(
  config: Config,
  asksKeys: boolean,
  databasePath: string | undefined,
  secret: string | undefined,
): Promise<KeyFacts> {
  if (config.upstreamUrl === undefined) return { kind: "simulator" };
  if (databasePath === undefined || secret === undefined) return { kind: "no-store" };
  if (!asksKeys) return { kind: "not-asked" };
  const { total, servers } = readServerKeys(databasePath, createSealer(secret), SERVERS_ASKED_MAX);
  const upstream = new UpstreamClient({
    baseUrl: config.upstreamUrl,
    globalKey: config.upstreamGlobalKey,
    timeoutMs: Math.min(config.upstreamTimeoutMs, TIMER_MAX_MS),
    keepsUnknown: false,
    clock: Date.now,
  });
  return { kind: "asked", total, answers: await askServerKeys(upstream, servers, Bun.sleep) };
}

function askGameApiOf(config: Config) {
  return askGameApi(config.upstreamUrl ?? "", config.upstreamTimeoutMs);
}

/** A check that breaks is a finding too, and keeps no other from being made. */
async function attempt(name: string, check: () => Finding[] | Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await check();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const remedy =
      "Run the command as the user that Gatehouse runs as, and check the permissions of the data folder.";
    return [fail(name, `This could not be checked: ${reason}.`, remedy)];
  }
}
