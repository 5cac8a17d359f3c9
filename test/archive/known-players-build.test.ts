// An archive of a version that knew no players learns them from its history, once, in steps.

import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { NewEvent } from "../../src/core/events/new-event.ts";
import { NO_HISTORY } from "../../src/core/history/history.ts";
import { openThreadedArchive } from "../event-archive.ts";
import { makeTestFolder } from "../start-gatehouse.ts";
import { act, session } from "./history-samples.ts";
import { kill, NOW, record } from "./ledger-samples.ts";

const root = makeTestFolder();
afterAll(() => rmSync(root, { recursive: true, force: true }));

test("all that history and ledger tell is there, whatever is recorded meanwhile", async () => {
  const path = join(root, "archive.db");
  const open = () => openThreadedArchive(path);
  const sessions = Array.from({ length: 250 }, (_, n) => session(`${1000 + n}`, NOW - 1_000 - n, NOW - n));
  const stays = [{ team: "Police", from: NOW - 900, to: NOW - 700 }];
  const again = { ...session("1000", NOW + 10, NOW + 30), stays };
  const death: NewEvent = kill(1, {
    data: '{"Killer":"Player1001:1001","Killed":"Old:1000"}',
    players: ["1000", "1001"],
  });
  const history = { ...NO_HISTORY, sessions: [...sessions, again], acts: [act("5", NOW)] };
  let archive = open();
  await archive.record([record({ events: [death], history })]);
  const search = (limit = 500) =>
    archive.searchPlayers({ serverId: "srv_a", query: "", isHere: undefined, after: undefined, limit, now: NOW });
  const known = await search();
  expect(known).toHaveLength(251 - 1);
  await archive.close();

  // As the migration leaves an archive of before.
  const db = new Database(path);
  db.exec("DELETE FROM known_players; UPDATE ledgers SET known_from = '', known_count = 0");
  db.close();
  archive = open();
  expect(await search()).toEqual([]);
  // Somebody who is in the history already, and somebody who is not.
  const seen = [
    { player: "1000", name: "Newest", at: NOW + 50 },
    { player: "77", name: "New", at: NOW + 60 },
  ];
  await archive.record([record({ version: 1, history: { ...NO_HISTORY, seen } })]);
  for (let step = 0; await archive.prune({ now: NOW, days: 10_000, eventsMax: 1_000_000 }); step++)
    if (step > 20) throw new Error("it does not end");
  const built = await search();
  expect(built.map(({ player }) => player).toSorted()).toEqual(
    [...known.map(({ player }) => player), "5", "77"].toSorted(),
  );
  const byId = new Map(built.map((one) => [one.player, one]));
  for (const one of known) {
    if (one.player === "1000") continue;
    expect(byId.get(one.player)).toEqual(one);
  }
  expect(byId.get("1000")).toMatchObject({
    names: expect.arrayContaining(["Newest", "Player1000", "Old"]),
    ms: 1_020,
    sessions: 2,
    deaths: 1,
    teamMs: { Police: 200 },
  });
  await archive.close();
  const counted = new Database(path, { readonly: true });
  expect(counted.query("SELECT known_count, known_from FROM ledgers").get()).toEqual({
    known_count: 252,
    known_from: null,
  });
  counted.close();
});
