// The shared archive fulfils the contract, on a real PostgreSQL.
import { afterAll, beforeAll } from "bun:test";
import { openPostgresArchive, type PostgresArchive } from "../../src/database/archive/open-archive.ts";
import { type PostgresServer, startPostgres, stopPostgresServers } from "../postgres-server.ts";
import { describeAlertRuleStore } from "./alert-rules-contract.ts";
import { type ArchiveHarness, describeArchive } from "./archive-contract.ts";
import { describeHistoryStore } from "./history-contract.ts";
import { describePlayerStore } from "./players-contract.ts";
import { describeWebhookStore } from "./webhook-contract.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(stopPostgresServers);

async function migrate(url: string): Promise<void> {
  const archive = openPostgresArchive(url);
  await archive.check();
  await archive.close();
}

async function createHarness(): Promise<ArchiveHarness> {
  let url = await server.createFilledDatabase(migrate);
  const open: PostgresArchive[] = [];
  return {
    async open() {
      const archive = openPostgresArchive(url);
      open.push(archive);
      return archive;
    },
    async replace() {
      url = await server.createDatabase();
    },
    async close() {
      await Promise.all(open.map((archive) => archive.close()));
    },
  };
}

describeArchive("the archive in PostgreSQL", createHarness);
describeWebhookStore("the archive in PostgreSQL", createHarness);
describeAlertRuleStore("the archive in PostgreSQL", createHarness);
describeHistoryStore("the archive in PostgreSQL", createHarness);
describePlayerStore("the archive in PostgreSQL", createHarness);
