// gatehouse backup and restore take the embedded archive along, and cursors that point beyond a restored archive expire.
import { afterEach, describe, expect, test } from "bun:test";
import { copyFileSync, existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { filterAll } from "../../src/core/events/event-types.ts";
import type { MapImage } from "../../src/core/maps/map-image.ts";
import type { EmbeddedArchive } from "../../src/database/archive/embedded-archive.ts";
import { addEvents, kill, kills, readAll } from "../archive/ledger-samples.ts";
import { makeWebhook } from "../archive/webhook-samples.ts";
import { openThreadedArchive } from "../event-archive.ts";
import { makeDataFolder, runToEnd } from "../run-gatehouse.ts";
import { cleanUp, makeFolder } from "../temporary.ts";

afterEach(cleanUp);

const PLACE = { kind: "street", name: "Elm", cellX: 1, cellZ: -2, count: 3, sumX: 4, sumZ: 5 } as const;
const MAP_IMAGE: MapImage = {
  type: "image/png",
  width: 2,
  height: 3,
  left: -9,
  top: -8,
  right: 7,
  bottom: 6,
  hash: "00ff",
  bytes: 3,
  setAt: 1_800_000_000_000,
  content: new Uint8Array([0, 255, 3]),
};

async function withArchive<T>(folder: string, use: (archive: EmbeddedArchive) => Promise<T>): Promise<T> {
  const archive = openThreadedArchive(join(folder, "archive.db"));
  try {
    return await use(archive);
  } finally {
    await archive.close();
  }
}

async function makeFolderWithEvents(): Promise<string> {
  const { folder } = await makeDataFolder();
  await withArchive(folder, (archive) => addEvents(archive, kills(3)));
  return folder;
}

function makeNewFolder(old: string): string {
  const folder = makeFolder();
  copyFileSync(join(old, "secret.key"), join(folder, "secret.key"));
  return folder;
}

async function run(...args: string[]) {
  const { exitCode, stdout, stderr } = await runToEnd(args, { cwd: makeFolder() });
  return { exitCode, stdout, stderr };
}

describe("the embedded archive", () => {
  test("is in the backup, while it is written to, and in the restored folder, with the maps", async () => {
    const old = await makeFolderWithEvents();
    const file = join(makeFolder(), "monday.db");
    await withArchive(old, async (archive) => {
      await addEvents(archive, [kill(4)]);
      await archive.createWebhook(makeWebhook());
      await archive.addPlaces("srv_a", [PLACE]);
      await archive.saveMapImage("srv_a", MAP_IMAGE);
      const made = await run("backup", file, "--data-dir", old, "--json");
      expect(made).toMatchObject({ exitCode: 0, stderr: "" });
      expect(JSON.parse(made.stdout).archive).toMatchObject({
        file: file.replace("monday.db", "monday.archive.db"),
        servers: 1,
        events: 4,
      });
      await addEvents(archive, [kill(5)]);
      await archive.deleteWebhook("hook_a");
    });
    const folder = makeNewFolder(old);
    const restored = await run("restore", file, "--data-dir", folder);
    expect(restored).toMatchObject({ exitCode: 0, stderr: "" });
    expect(restored.stdout).toContain("servers: 1, events: 4");
    await withArchive(folder, async (archive) => {
      const [last] = (await readAll(archive)).slice(3);
      expect(last).toMatchObject({ number: 4 });
      const place = { number: 4, mark: last?.mark };
      expect(await archive.listWebhooks()).toMatchObject([{ ...makeWebhook(), place }]);
      expect(await archive.listPlaces("srv_a")).toEqual([PLACE]);
      expect(await archive.readMapImage("srv_a")).toEqual(MAP_IMAGE);
    });
  });

  test("that was restored refuses cursors of later events, also when their numbers are given out again", async () => {
    const old = await makeFolderWithEvents();
    const file = join(makeFolder(), "b.db");
    expect((await run("backup", file, "--data-dir", old)).exitCode).toBe(0);
    const { last } = await withArchive(old, (archive) => addEvents(archive, [kill(4), kill(5)]));
    const folder = makeNewFolder(old);
    expect((await run("restore", file, "--data-dir", folder)).exitCode).toBe(0);
    await withArchive(folder, async (archive) => {
      const read = () => archive.readPage({ serverId: "srv_a", start: { after: last }, filter: filterAll(), limit: 9 });
      expect(await read()).toMatchObject({ expired: true });
      await addEvents(archive, [kill(4), kill(6)]);
      expect(await read()).toMatchObject({ expired: true, oldest: { number: 0 } });
    });
  });

  test("is not overwritten by a restore, and a damaged one makes no backup", async () => {
    const old = await makeFolderWithEvents();
    const file = join(makeFolder(), "b.db");
    expect((await run("backup", file, "--data-dir", old)).exitCode).toBe(0);
    const folder = makeNewFolder(old);
    writeFileSync(join(folder, "archive.db"), "mine");
    const refused = await run("restore", file, "--data-dir", folder);
    expect(refused).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("archive.db exists already"),
    });
    expect(readdirSync(folder).sort()).toEqual(["archive.db", "secret.key"]);

    writeFileSync(join(old, "archive.db"), "something else");
    const target = join(makeFolder(), "c.db");
    const failed = await run("backup", target, "--data-dir", old);
    expect(failed).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("is not an archive of Gatehouse"),
    });
    expect([existsSync(target), existsSync(target.replace(".db", ".archive.db"))]).toEqual([false, false]);
  });

  test("that is missing beside a backup is said, and the rest is restored", async () => {
    const old = await makeFolderWithEvents();
    const file = join(makeFolder(), "b.db");
    await run("backup", file, "--data-dir", old);
    rmSync(file.replace(".db", ".archive.db"));
    const restored = await run("restore", file, "--data-dir", makeNewFolder(old));
    expect(restored).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("the backup has none") });
  });
});
