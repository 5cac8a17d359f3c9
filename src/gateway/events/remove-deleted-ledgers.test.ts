// The ledgers of deleted servers go, and no others, whatever the store and the archive say.
import { expect, test } from "bun:test";
import { EVENT_AT, MemoryArchive, makeEvent } from "../../../test/event-archive.ts";
import { ArchiveUnavailable, StoreUnavailable } from "../../core/errors.ts";
import type { GameServer } from "../../core/game-server.ts";
import { removeDeletedLedgers } from "./event-retention.ts";

const LIVE: GameServer = {
  serverId: "srv_live",
  name: "Live",
  community: null,
  createdAt: EVENT_AT,
  keyRevision: 1,
  isSimulated: false,
  isWatched: true,
  publicStatus: null,
  ownersSignIn: false,
};

const stage = async (deleted: readonly string[]) => {
  const archive = new MemoryArchive();
  for (const serverId of ["srv_live", "srv_gone", "srv_of_another_store"]) {
    await archive.add(serverId, makeEvent(1));
  }
  const servers = {
    listDeleted: async () => deleted,
    find: (serverId: string) => (serverId === LIVE.serverId ? LIVE : undefined),
  };
  const list = async () => [...(await archive.findLast(["srv_live", "srv_gone", "srv_of_another_store"])).keys()];
  return { archive, servers, list };
};

test("a deleted server loses its ledger; a live one and one that the store never had keep theirs", async () => {
  const many = Array.from({ length: 1_200 }, (_, n) => `srv_never_recorded_${n}`);
  const { archive, servers, list } = await stage([...many, "srv_gone"]);
  await removeDeletedLedgers(servers, archive);
  expect(await list()).toEqual(["srv_live", "srv_of_another_store"]);
});

test("a server that was deleted once and is there again keeps its ledger", async () => {
  const { archive, servers, list } = await stage(["srv_live"]);
  await removeDeletedLedgers(servers, archive);
  expect(await list()).toContain("srv_live");
});

test("a ledger that a last reading has made again is removed the next time", async () => {
  const { archive, servers, list } = await stage(["srv_gone"]);
  await removeDeletedLedgers(servers, archive);
  await archive.add("srv_gone", makeEvent(2));
  await removeDeletedLedgers(servers, archive);
  expect(await list()).not.toContain("srv_gone");
});

test("nothing is removed while the store does not answer", async () => {
  const { archive, servers, list } = await stage([]);
  const broken = {
    ...servers,
    listDeleted: async () => {
      throw new StoreUnavailable("gone");
    },
    find: () => undefined,
  };
  await expect(removeDeletedLedgers(broken, archive)).rejects.toBeInstanceOf(StoreUnavailable);
  expect(await list()).toHaveLength(3);
});

test("while the archive is away it fails, and the next time succeeds", async () => {
  const { archive, servers, list } = await stage(["srv_gone"]);
  archive.fault = new ArchiveUnavailable("away");
  await expect(removeDeletedLedgers(servers, archive)).rejects.toBeInstanceOf(ArchiveUnavailable);
  archive.fault = undefined;
  await removeDeletedLedgers(servers, archive);
  expect(await list()).not.toContain("srv_gone");
});
