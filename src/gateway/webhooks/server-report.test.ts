import { expect, test } from "bun:test";
import type { GameServer } from "../../core/game-server.ts";
import { SECTIONS } from "../../core/sections.ts";
import { Snapshot } from "../readings/snapshot.ts";
import { type ReportDeps, readReport } from "./server-report.ts";

const READ_AT = 1_800_000_000_000;
const SERVER: GameServer = {
  ...{ serverId: "srv_1", name: "one", community: null, createdAt: 0, keyRevision: 1 },
  ...{ isSimulated: false, isWatched: true, publicStatus: null, ownersSignIn: false },
};
const SNAPSHOT = new Snapshot({ base: '{"Name":"Town"', sections: SECTIONS.map(() => "[]"), misfits: 0 }, READ_AT);
const PARTS: ReportDeps = {
  servers: { find: (serverId) => (serverId === SERVER.serverId ? SERVER : undefined) },
  relay: {
    summarize: () => ({ state: "online", counts: {} as never, lastReadAt: READ_AT, lastError: null }),
    findSnapshot: () => SNAPSHOT,
  },
  watcher: { catchUpOn: async () => {}, planOf: () => ({ isWatched: true, intervalMs: 5_000 }) },
};

test("has what the last reading showed, and nothing of an unknown server", async () => {
  const report = await readReport(PARTS, "srv_1", READ_AT + 59_000);
  expect(report).toMatchObject({ state: "online", settings: { Name: "Town" }, readAt: READ_AT });
  expect(report?.sections).toMatchObject({ Players: [], ModCalls: [] });
  expect(await readReport(PARTS, "srv_2", READ_AT)).toBeUndefined();
});

test("a server that nobody has read for a minute is unknown, as on its public page", async () => {
  expect(await readReport(PARTS, "srv_1", READ_AT + 60_000)).toMatchObject({ state: "unknown" });
});
