// The embedded archive fulfils the contract.
import { afterAll } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { EmbeddedArchive } from "../../src/database/archive/embedded-archive.ts";
import { openThreadedArchive } from "../event-archive.ts";
import { makeTestFolder } from "../start-gatehouse.ts";
import { describeAlertRuleStore } from "./alert-rules-contract.ts";
import { type ArchiveHarness, describeArchive } from "./archive-contract.ts";
import { describeHistoryStore } from "./history-contract.ts";
import { describePlayerStore } from "./players-contract.ts";
import { describeWebhookStore } from "./webhook-contract.ts";

const root = makeTestFolder();
afterAll(() => rmSync(root, { recursive: true, force: true }));
let files = 0;

async function createHarness(): Promise<ArchiveHarness> {
  let path = join(root, `${++files}.db`);
  const open: EmbeddedArchive[] = [];
  return {
    async open() {
      const archive = openThreadedArchive(path);
      open.push(archive);
      // Opened before it is used: the data folder's lock keeps two processes from making one file at once.
      await archive.load("srv_none");
      return archive;
    },
    async replace() {
      path = join(root, `${++files}.db`);
    },
    async close() {
      await Promise.all(open.map((archive) => archive.close()));
    },
  };
}

describeArchive("the embedded archive", createHarness);
describeWebhookStore("the embedded archive", createHarness);
describeAlertRuleStore("the embedded archive", createHarness);
describeHistoryStore("the embedded archive", createHarness);
describePlayerStore("the embedded archive", createHarness);
