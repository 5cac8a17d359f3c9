// Each of twelve faults is told in /readyz, on the dashboard, by doctor and in the log, in words that name the remedy.
import { Database } from "bun:sqlite";
import { afterAll, afterEach, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInstance, type TFunction } from "i18next";
import { listAway } from "../../src/app/wire-operators.ts";
import { type AlertStates, NO_ALERT_STATES } from "../../src/core/alerts/alert-states.ts";
import { StoreUnavailable } from "../../src/core/errors.ts";
import { NOTHING_KNOWN } from "../../src/core/events/memory.ts";
import { writeChangedParts } from "../../src/core/events/memory-text.ts";
import type { NoticeCode } from "../../src/core/notice-codes.ts";
import type { Notice, Readiness } from "../../src/core/wire/health.ts";
import { operatorEn } from "../../src/dashboard/locales/operator-en.ts";
import { operatorRu } from "../../src/dashboard/locales/operator-ru.ts";
import { describeNotice } from "../../src/dashboard/views/operator/health/describe-notice.ts";
import { ARCHIVE_MIGRATIONS } from "../../src/database/archive/migrations.ts";
import { ARCHIVE_FORMAT } from "../../src/database/archive/open-archive-file.ts";
import { inspectDatabase } from "../../src/database/store/inspect-store.ts";
import { judgeInstance } from "../../src/doctor/call-instance.ts";
import { judgeStore } from "../../src/doctor/check-store.ts";
import { NoticeBoard } from "../../src/gateway/instances/notice-board.ts";
import { ReadyzHandler } from "../../src/http/service/health.ts";
import { record } from "../archive/ledger-samples.ts";
import { makeWebhook } from "../archive/webhook-samples.ts";
import { MemoryArchive } from "../event-archive.ts";
import { BASE_INFO, startFakeGameApi } from "../fake-game-api.ts";
import { makeCertificate } from "../make-certificate.ts";
import { FakeClock, makeTestFolder, startGatehouse, type TestGatehouse, type TestOptions } from "../start-gatehouse.ts";
import { makeOldFile, OLD_SCHEMA } from "../store/old-files.ts";
import { cleanUp, undoLater } from "../temporary.ts";
import { until } from "../until.ts";

const HOUR_MS = 3_600_000;
const GIB = 1024 ** 3;
const URL_SHOWN = "http://127.0.0.1:8080";
const CONNECTION = { requestIP: () => null, timeout() {} };

const game = startFakeGameApi();
afterAll(() => game.stop());
afterEach(cleanUp);

/** What is told, and whether callers are served. */
type Told = { readonly body: Readiness; readonly log: string };

/** `code`: what /readyz has to say in the end. */
async function ask(gatehouse: TestGatehouse, code: NoticeCode): Promise<Told> {
  let body: Readiness | undefined;
  await until(`/readyz does not say ${code}`, async () => {
    const headers = { Authorization: `Bearer ${gatehouse.masterKey}` };
    const request = new Request("http://localhost/readyz", { headers });
    body = (await (await gatehouse.app.answer(request, CONNECTION)).json()) as Readiness;
    return body.notices?.some((notice) => notice.code === code);
  });
  return { body: body as Readiness, log: gatehouse.logLines.join("\n") };
}

async function start(options: TestOptions = {}): Promise<TestGatehouse> {
  const gatehouse = await startGatehouse({ ...options, env: { GATEHOUSE_UPSTREAM_URL: game.url, ...options.env } });
  undoLater(() => gatehouse.stop());
  return gatehouse;
}

/** A server whose caller asks so often. */
async function startAsked(times: number, answer: () => Response): Promise<TestGatehouse> {
  game.answer = answer;
  const gatehouse = await start();
  const { token } = await gatehouse.addKey(await gatehouse.addServer({ name: "West Town" }), { label: "loud bot" });
  for (let i = 0; i < times; i++) {
    await gatehouse.get("/v2/game/server", token);
    // Not answered from what was just read.
    if (times < 100) gatehouse.clock.advance(3_000);
  }
  return gatehouse;
}

const refuse = (code: number, status: number, headers = {}) =>
  Response.json({ code, message: "No." }, { status, headers });

async function startOnDisk(freeBytes: number): Promise<TestGatehouse> {
  return start({ measureDisk: async () => ({ freeBytes, totalBytes: 100 * GIB }) });
}

/** Without a Redis and a PostgreSQL to stop; test/instances does that. */
async function askAlone(away: Parameters<typeof listAway>[0]): Promise<Told> {
  const lines: string[] = [];
  const note = (fields: object, message: string) => lines.push(JSON.stringify({ ...fields, message }));
  const log = { debug: note, info: note, warn: note, error: note };
  const store = { checkHealth: async () => {} };
  const board = new NoticeBoard({ store, lookAtMachine: async () => {}, list: () => listAway(away), log });
  const readyz = new ReadyzHandler({
    clock: () => 1,
    isDraining: () => false,
    listNotices: (now) => board.look(now),
    describeCallers: () => ({ servers: 1, shownForMs: 0 }),
    isOperator: async () => true,
  });
  const response = await readyz.answer({ request: new Request("http://localhost/readyz") } as never);
  return { body: (await response.json()) as Readiness, log: lines.join("\n") };
}

async function startWithCertificate(): Promise<TestGatehouse> {
  const folder = makeTestFolder();
  const { cert, key } = await makeCertificate();
  writeFileSync(join(folder, "cert.pem"), cert);
  writeFileSync(join(folder, "key.pem"), key, { mode: 0o600 });
  const clock = new FakeClock();
  clock.now = Date.now();
  const tls = { GATEHOUSE_TLS_CERT: join(folder, "cert.pem"), GATEHOUSE_TLS_KEY: join(folder, "key.pem") };
  return start({ folder, clock, env: tls });
}

async function startWithDeadWebhook(): Promise<TestGatehouse> {
  const archive = new MemoryArchive();
  const dead = { isEnabled: false, disabledReason: "gone", lastFailureAt: 1_799_999_000_000 };
  await archive.createWebhook(makeWebhook({ label: "mod log", ...dead }));
  return start({ archive });
}

/** Of an older version, with a table that something else has made. */
async function startWithOldArchive(): Promise<TestGatehouse> {
  const folder = makeTestFolder();
  const archive = new Database(join(folder, "archive.db"));
  archive.exec(ARCHIVE_MIGRATIONS.steps[0] as string);
  archive.exec(`PRAGMA application_id = ${ARCHIVE_FORMAT.applicationId}; PRAGMA user_version = 1`);
  archive.exec("CREATE TABLE webhooks (mine TEXT)");
  archive.close();
  return start({ folder, env: { GATEHOUSE_ARCHIVE: "sqlite" } });
}

type Fault = {
  readonly code: NoticeCode;
  readonly tell: () => Promise<Told>;
  readonly callers: Readiness["callers"];
  /** In the remedy, in every language. */
  readonly remedy: string;
  /** In what is said, in every language. */
  readonly says?: string;
  /** False where the instances would not agree on a time. */
  readonly hasSince?: false;
};

const FAULTS: Readonly<Record<string, Fault>> = {
  "the game API is down": {
    code: "upstream_failing",
    tell: async () => ask(await startAsked(6, () => refuse(1001, 500)), "upstream_failing"),
    callers: "refused",
    remedy: 'gatehouse servers show "West Town"',
  },
  "the game API has been paused for an hour": {
    code: "upstream_paused",
    async tell() {
      const gatehouse = await startAsked(1, () => refuse(4001, 429, { "Retry-After": "7200" }));
      gatehouse.clock.advance(HOUR_MS);
      return ask(gatehouse, "upstream_paused");
    },
    callers: "refused",
    remedy: "gatehouse upstream resume",
  },
  "a server key is wrong": {
    code: "server_keys_refused",
    tell: async () => ask(await startAsked(1, () => refuse(2002, 403)), "server_keys_refused"),
    callers: "refused",
    remedy: 'gatehouse servers set-key "West Town"',
  },
  "the disk is nearly full": {
    code: "disk_low",
    tell: async () => ask(await startOnDisk(GIB), "disk_low"),
    callers: "served",
    remedy: "GATEHOUSE_EVENTS_DAYS",
  },
  "the disk is full": {
    code: "disk_full",
    tell: async () => ask(await startOnDisk(0), "disk_full"),
    callers: "partly",
    remedy: "GATEHOUSE_EVENTS_DAYS",
  },
  "Redis is down": {
    code: "redis_away",
    tell: () => askAlone({ instances: undefined, shared: { isUp: false } as never }),
    callers: "served",
    remedy: "GATEHOUSE_REDIS",
  },
  "PostgreSQL is down": {
    code: "database_away",
    tell: () => askAlone({ instances: { isUp: false } as never, shared: undefined }),
    callers: "partly",
    remedy: "GATEHOUSE_STORE",
  },
  "the clock is off": {
    code: "clock_wrong",
    async tell() {
      const headers = { Date: new Date(Date.now() - HOUR_MS).toUTCString() };
      return ask(await startAsked(4, () => Response.json(BASE_INFO, { headers })), "clock_wrong");
    },
    callers: "served",
    remedy: "timedatectl set-ntp true",
  },
  "the clock is not PostgreSQL's": {
    code: "database_clock_wrong",
    tell: () => askAlone({ instances: { isUp: true, clockOffsetMs: 60_000 } as never, shared: undefined }),
    callers: "served",
    remedy: "timedatectl set-ntp true",
  },
  "a webhook is dead": {
    code: "webhooks_disabled",
    tell: async () => ask(await startWithDeadWebhook(), "webhooks_disabled"),
    callers: "served",
    remedy: 'gatehouse webhooks change "mod log" --enabled on',
  },
  "a key is spamming": {
    code: "keys_blocked",
    tell: async () => ask(await startAsked(520, () => Response.json(BASE_INFO)), "keys_blocked"),
    callers: "served",
    remedy: 'gatehouse blocks lift "loud bot"',
    hasSince: false,
  },
  "the certificate is expiring": {
    code: "certificate_expiring",
    tell: async () => ask(await startWithCertificate(), "certificate_expiring"),
    callers: "served",
    remedy: "GATEHOUSE_TLS_CERT",
  },
  "this version cannot make its tables in the archive": {
    code: "archive_away",
    tell: async () => ask(await startWithOldArchive(), "archive_away"),
    callers: "partly",
    remedy: "archive.db",
    says: "the version before still works",
  },
};

const FORMAT = {
  number: String,
  duration: (ms: number) => `${ms / 1000} s`,
  dateTime: (ms: number) => new Date(ms).toISOString(),
};

/** As the dashboard does it; `say` has the texts of the language. */
async function openTexts(lng: string): Promise<TFunction<"operatorHealth">> {
  const own = createInstance();
  const resources = { en: operatorEn, ru: operatorRu };
  await own.init({ lng, resources, defaultNS: "operatorHealth", interpolation: { escapeValue: false } });
  return own.t as unknown as TFunction<"operatorHealth">;
}

function expectTold({ code, callers, remedy, hasSince }: Fault, { body, log }: Told): Notice {
  const notice = body.notices.find((one) => one.code === code);
  expect(notice?.remedy).toContain(remedy);
  if (hasSince !== false) expect(notice?.since).toBeNumber();
  expect(body.callers).toBe(callers);
  const line = log.split("\n").find((one) => one.includes(`"notice":"${code}"`)) ?? "";
  expect(line).toContain(JSON.stringify(notice?.remedy).slice(1, -1));
  const findings = judgeInstance({ status: 200, notices: body.notices, details: {} }, URL_SHOWN);
  expect(findings).toContainEqual(
    expect.objectContaining({ finding: expect.stringContaining(notice?.message ?? "?"), remedy: notice?.remedy }),
  );
  return notice as Notice;
}

test.each(Object.entries(FAULTS))("%s: /readyz, dashboard, doctor and log name the remedy", async (_, fault) => {
  const notice = expectTold(fault, await fault.tell());
  for (const language of ["en", "ru"]) {
    const { what, todo, isForeign } = describeNotice(notice, await openTexts(language), FORMAT);
    expect(todo).toContain(fault.remedy);
    expect(what).toContain(fault.says ?? "");
    expect(what + todo).not.toMatch(/\{\{|undefined|^notice\.|remedy\./);
    expect([what === "", isForeign]).toEqual([false, false]);
    if (language === "ru") expect([what, todo].every((text) => /[а-я]{3}/.test(text))).toBe(true);
  }
});

test("a migration that this version cannot make is told at the start and by doctor; nothing listens then", async () => {
  const folder = makeTestFolder();
  undoLater(async () => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "gatehouse.db");
  makeOldFile(path, OLD_SCHEMA);
  const db = new Database(path);
  db.exec("CREATE TABLE roles (mine TEXT)");
  db.close();
  const env = { GATEHOUSE_SECRET: "a secret of thirty-two characters or more" };
  await expect(startGatehouse({ folder, env })).rejects.toThrow(
    /step \d+ of \d+: .*roles.* the version before still works/,
  );
  const findings = judgeStore(inspectDatabase(path, undefined), path, true);
  const remedy = expect.stringContaining("its last line says why, and the version before still works");
  expect(findings).toMatchObject([{ result: "warning", remedy }]);
});

test("raised alerts are told with the names of their servers, and no more when they are cleared", async () => {
  const archive = new MemoryArchive();
  const gatehouse = await start({ archive });
  const { serverId } = await gatehouse.addServer({ name: "West Town" });
  const outage = { since: 1, unknownMs: 0, isRaised: true, state: "offline", id: null } as const;
  const { version } = await archive.load(serverId);
  const memory = (states: AlertStates) =>
    writeChangedParts(NOTHING_KNOWN, { ...NOTHING_KNOWN, alerts: { place: null, states } });
  const [recorded] = await archive.record([
    record({ serverId, version, memory: memory({ ...NO_ALERT_STATES, outage }) }),
  ]);
  gatehouse.clock.advance(60_000);
  const { body } = await ask(gatehouse, "alerts_raised");
  expect(body.notices).toMatchObject([{ remedy: expect.stringContaining('gatehouse events --server "West Town"') }]);
  const next = recorded && "version" in recorded ? recorded.version : 0;
  await archive.record([record({ serverId, version: next, memory: memory(NO_ALERT_STATES) })]);
  gatehouse.clock.advance(60_000);
  await until("the alert is still told", async () => {
    return ((await (await gatehouse.get("/readyz")).json()) as Readiness).notices.length === 0;
  });
});

test("a store that cannot be used is told in the log although nobody asks", async () => {
  const gatehouse = await start();
  gatehouse.app.store.checkHealth = async () => {
    throw new StoreUnavailable("the disk is gone");
  };
  gatehouse.clock.advance(10_000);
  await until("nothing is logged", () => gatehouse.logLines.some((line) => line.includes("store_unusable")), 30_000);
});

test("a database that hangs keeps nobody waiting for /readyz", async () => {
  const gatehouse = await startAsked(520, () => Response.json(BASE_INFO));
  const { promise: never } = Promise.withResolvers<never>();
  gatehouse.app.store.keys.findDetails = () => never;
  const startedAt = performance.now();
  const answers = await Promise.all(Array.from({ length: 20 }, () => gatehouse.get("/readyz")));
  expect(answers.map(({ status }) => status)).toEqual(Array.from(answers, () => 200));
  expect(performance.now() - startedAt).toBeLessThan(10_000);
});

test("the file of the master key: its loss is told with its path, only to operators", async () => {
  const gatehouse = await start();
  rmSync(join(gatehouse.folder, "master.key"));
  await gatehouse.app.lookAtMachine();
  const { body } = await ask(gatehouse, "key_file_gone");
  expect(body.notices).toMatchObject([{ message: expect.stringContaining(join(gatehouse.folder, "master.key")) }]);
  expect(await (await gatehouse.get("/readyz")).text()).not.toContain(gatehouse.folder);
});
