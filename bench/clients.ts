// Counts the calls to the game API while more and more clients read from Gatehouse.
import { ALL_SECTIONS_PATH } from "./cases.ts";
import { GATEHOUSE, gatehouseEnv } from "./contenders/gatehouse.ts";
import { fillKeys, fillServers, openSqlite } from "./fill-store.ts";
import { putLoad } from "./load.ts";
import type { Cores } from "./machine.ts";
import { startProgram } from "./processes.ts";
import type { Progress } from "./progress.ts";
import { READ_KEYS, type Settings } from "./settings.ts";
import type { Stage } from "./stage.ts";

/** The shipped default of GATEHOUSE_FRESH_MS. */
export const FRESH_MS = 2_000;

export type ClientsRow = {
  readonly clients: number;
  readonly seconds: number;
  readonly requests: number;
  readonly calls: number;
};

export async function measureClients(
  stage: Stage,
  cores: Cores,
  settings: Settings,
  progress: Progress,
): Promise<ClientsRow[]> {
  const { clientCounts, clientSeconds: seconds } = settings;
  progress.part("clients", clientCounts.length);
  const folder = stage.makeFolder("clients");
  const store = await openSqlite(folder);
  await fillKeys(store, await fillServers(store, 1), stage.tokens.slice(0, READ_KEYS));
  await store.close();
  const env = { ...gatehouseEnv(stage, folder), GATEHOUSE_FRESH_MS: String(FRESH_MS) };
  const program = await startProgram({ command: GATEHOUSE, core: cores.server, env });
  const rows: ClientsRow[] = [];
  try {
    for (const clients of clientCounts) {
      stage.simulator.clearCalls();
      const load = {
        tokensPath: stage.tokensPath,
        first: 0,
        count: READ_KEYS,
        connections: clients,
        seconds,
      };
      const { requests } = await putLoad({ ...load, url: program.urls[0] + ALL_SECTIONS_PATH }, cores.load);
      const calls = stage.simulator.calls().totals.reads;
      rows.push({ clients, seconds, requests, calls });
      progress.step(`${clients} clients: ${requests} requests, ${calls} calls`);
    }
  } finally {
    await program.stop();
  }
  return rows;
}
