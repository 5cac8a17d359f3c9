// doctor looks at the archive: the file, or the PostgreSQL, and never shows a password.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Archive } from "../../src/core/ports/archive.ts";
import type { Webhook } from "../../src/core/webhooks/webhook.ts";
import { inspectArchive, readSealedWebhooks, type SealedWebhook } from "../../src/database/archive/inspect-archive.ts";
import { openPostgresArchive } from "../../src/database/archive/open-archive.ts";
import { createWebhookSealer, Sealer } from "../../src/database/sealer.ts";
import { inspectPostgres, judgePostgres, readWebhooks } from "../../src/doctor/check-postgres.ts";
import { judgeArchiveFile } from "../../src/doctor/check-store.ts";
import { judgeWebhooks } from "../../src/doctor/check-webhooks.ts";
import { openThreadedArchive } from "../event-archive.ts";
import { type PostgresServer, startPostgres, stopPostgresServers } from "../postgres-server.ts";
import { makeTestFolder } from "../start-gatehouse.ts";
import { addEvents, kills } from "./ledger-samples.ts";
import { makeWebhook } from "./webhook-samples.ts";

const folder = makeTestFolder();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const look = (path: string) => judgeArchiveFile(inspectArchive(path), path)[0];

describe("the file", () => {
  const path = join(folder, "archive.db");

  test("absent, empty, foreign, good", async () => {
    expect(look(path)).toMatchObject({ result: "skipped" });
    writeFileSync(path, "");
    expect(look(path)).toMatchObject({ result: "ok", finding: expect.stringContaining("empty") });
    writeFileSync(path, "my diary");
    expect(look(path)).toMatchObject({
      result: "failure",
      finding: expect.stringContaining("is not an archive"),
    });
    rmSync(path);
    const archive = openThreadedArchive(path);
    await addEvents(archive, kills(3));
    await archive.close();
    expect(look(path)).toMatchObject({
      result: "ok",
      finding: expect.stringContaining("servers: 1, events: 3"),
    });
  });

  test("damaged: its name, and what to do without a restart", async () => {
    const damaged = join(folder, "damaged.db");
    const archive = openThreadedArchive(damaged);
    await addEvents(archive, kills(400));
    await archive.close();
    truncateSync(damaged, 8_192);
    expect(look(damaged)).toMatchObject({
      result: "failure",
      finding: expect.stringContaining(`${damaged} is damaged`),
      remedy: expect.stringContaining("Move the file and its -wal away"),
    });
  });
});

/** Two webhooks that this secret opens, one of them disabled, and one that it does not. */
async function addWebhooks(archive: Archive): Promise<void> {
  const add = (webhookId: string, secret: string, changes: Partial<Webhook> = {}) => {
    const other = createWebhookSealer(new Sealer(secret));
    return archive.createWebhook(
      makeWebhook({
        webhookId,
        label: webhookId.slice("hook_".length),
        sealedUrl: other.seal("https://discord.test/t0ken", webhookId, "url"),
        sealedSecret: other.seal("whsec_t0ken", webhookId, "secret"),
        sealedOldSecret: other.seal("whsec_old", webhookId, "secret"),
        ...changes,
      }),
    );
  };
  await add("hook_good", "a secret");
  await add("hook_gone", "a secret", { isEnabled: false, disabledReason: "410 for t0ken" });
  await add("hook_foreign", "another secret");
}

function expectWebhooksJudged(webhooks: readonly SealedWebhook[]): void {
  const sealer = createWebhookSealer(new Sealer("a secret"));
  const findings = judgeWebhooks(webhooks, sealer);
  expect(findings).toMatchObject([
    { result: "failure", finding: expect.stringContaining("1 of 3 were encrypted with another secret") },
    { result: "warning", finding: expect.stringContaining("gone (hook_gone)") },
  ]);
  expect(JSON.stringify(findings)).not.toContain("t0ken");
  const good = webhooks.filter(({ label }) => label === "good");
  expect(judgeWebhooks(good, sealer)).toMatchObject([{ result: "ok" }]);
  expect(judgeWebhooks(good, undefined)).toMatchObject([{ result: "skipped" }]);
  expect(judgeWebhooks([], sealer)).toEqual([]);
}

test("webhooks in the file: those of another secret and those that were disabled are told", async () => {
  const path = join(folder, "webhooks.db");
  const archive = openThreadedArchive(path);
  await addWebhooks(archive);
  await archive.close();
  expectWebhooksJudged(readSealedWebhooks(path));
  const db = new Database(path);
  db.exec("DROP TABLE webhooks");
  db.close();
  expect(readSealedWebhooks(path)).toEqual([]);
});

describe("PostgreSQL", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(stopPostgresServers);
  const inspect = (url: string) => inspectPostgres(url, "archive", readWebhooks);
  const ask = async (url: string) => judgePostgres((await inspect(url)).facts, "archive")[0];

  test("without tables, with them, and with those of a newer version", async () => {
    const url = await server.createDatabase();
    expect(await ask(url)).toMatchObject({
      result: "warning",
      finding: expect.stringContaining("no tables"),
    });
    const archive = openPostgresArchive(url);
    await addEvents(archive, kills(1));
    await archive.close();
    expect(await ask(url)).toMatchObject({ result: "ok", finding: expect.stringContaining("can be used") });
    await server.ask("INSERT INTO gatehouse.migrations VALUES ('archive', 99), ('archive', 98), ('archive', 97)", url);
    expect(await ask(url)).toMatchObject({
      result: "failure",
      finding: expect.stringContaining("newer Gatehouse"),
    });
  });

  test("its webhooks: those of another secret and those that were disabled are told", async () => {
    const url = await server.createDatabase();
    expect((await inspect(url)).found).toBeUndefined();
    const archive = openPostgresArchive(url);
    await addWebhooks(archive);
    await archive.close();
    expectWebhooksJudged((await inspect(url)).found ?? []);
  });

  test("one that is absent or refuses us is told without the password", async () => {
    for (const url of [
      `postgres://gatehouse:s3cr3t@127.0.0.1:${server.port}/no_such_database`,
      "postgres://gatehouse:s3cr3t@127.0.0.1:1/x",
    ]) {
      const found = await ask(url);
      expect(found).toMatchObject({ result: "failure", finding: expect.stringContaining("cannot be used") });
      expect(JSON.stringify(found)).not.toContain("s3cr3t");
    }
  });

  test("one that is too old, or read-only", () => {
    const facts = { kind: "reached", version: 14, schema: 1, canWrite: false } as const;
    expect(judgePostgres(facts, "archive").map(({ finding }) => finding)).toEqual([
      "PostgreSQL 14 is too old.",
      "PostgreSQL is read-only.",
    ]);
  });
});
