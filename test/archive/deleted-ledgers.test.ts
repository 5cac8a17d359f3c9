// A server that is deleted while the archive is away loses its ledger afterwards, also over a restart, with both stores and
// both archives.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type PostgresServer, startPostgres, stopPostgresServers } from "../postgres-server.ts";
import { makeTestFolder, startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";
import { until } from "../until.ts";

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(async () => {
  await stopPostgresServers();
});

type Stage = {
  readonly env: Readonly<Record<string, string>>;
  readonly takeAway: () => unknown;
  readonly giveBack: () => unknown;
  readonly listLedgers: () => Promise<readonly string[]>;
};

async function stageOf(kind: string, folder: string): Promise<Stage> {
  const path = join(folder, "archive.db");
  if (kind === "the embedded archive") {
    return {
      env: { GATEHOUSE_ARCHIVE: "sqlite" },
      takeAway() {
        renameSync(path, `${path}.away`);
        writeFileSync(path, "not an archive");
      },
      giveBack: () => renameSync(`${path}.away`, path),
      async listLedgers() {
        const db = new Database(path);
        try {
          return db.query<{ server_id: string }, []>("SELECT server_id FROM ledgers").all().map(toId);
        } finally {
          db.close();
        }
      },
    };
  }
  const url = await postgres.createDatabase();
  return {
    env: { GATEHOUSE_ARCHIVE: url },
    takeAway: () => postgres.stop(),
    giveBack: () => postgres.start(),
    async listLedgers() {
      const rows = await postgres.ask("SELECT server_id FROM gatehouse.ledgers", url);
      return (rows as { server_id: string }[]).map(toId);
    },
  };
}

const toId = ({ server_id }: { readonly server_id: string }) => server_id;

async function addReadServer(gatehouse: TestGatehouse): Promise<string> {
  const server = await gatehouse.addServer();
  const { token } = await gatehouse.addKey(server);
  expect((await gatehouse.get("/v2/game/server", token)).status).toBe(200);
  return server.serverId;
}

test.each(["the embedded archive", "PostgreSQL"])("with %s", async (kind) => {
  const folder = makeTestFolder();
  const { env, takeAway, giveBack, listLedgers } = await stageOf(kind, folder);
  let gatehouse = await startGatehouse({ folder, env });
  try {
    const [doomed, kept] = [await addReadServer(gatehouse), await addReadServer(gatehouse)];
    await until("nothing was recorded", async () => {
      const ids = await listLedgers().catch((): readonly string[] => []);
      return ids.includes(doomed) && ids.includes(kept);
    });
    await gatehouse.stop();
    await takeAway();
    gatehouse = await startGatehouse({ folder, env, clock: gatehouse.clock });
    expect((await gatehouse.admin("DELETE", `/admin/servers/${doomed}`)).status).toBe(200);
    await gatehouse.stop();
    await giveBack();
    expect(await listLedgers()).toContain(doomed);

    gatehouse = await startGatehouse({ folder, env, clock: gatehouse.clock });
    await until("the ledger stays", async () => !(await listLedgers()).includes(doomed));
    expect(await listLedgers()).toContain(kept);
  } finally {
    await gatehouse.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
