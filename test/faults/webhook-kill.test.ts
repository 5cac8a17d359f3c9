// kill -9 again and again while events are delivered to a receiver that fails at random: every event arrives at least once and
// in order, and repeats have the id of the first time.

import { afterEach, expect, test } from "bun:test";
import { join } from "node:path";
import { writeCursor } from "../../src/core/events/cursor.ts";
import { filterAll } from "../../src/core/events/event-types.ts";
import { NO_HISTORY } from "../../src/core/history/history.ts";
import type { Archive } from "../../src/core/ports/archive.ts";
import { writeWebhookSecret } from "../../src/core/webhooks/standard.ts";
import { createWebhookSealer, Sealer } from "../../src/database/sealer.ts";
import { makeWebhook } from "../archive/webhook-samples.ts";
import { EVENT_AT, makeEvent, openLocalArchive } from "../event-archive.ts";
import { repeat } from "../long.ts";
import { serve } from "../run-gatehouse.ts";
import { cleanUp, makeFolder, undoLater } from "../temporary.ts";
import { type Reaction, WebhookReceiver } from "../webhook-receiver.ts";

const KILLS = repeat({ usual: 4, long: 100 });
const EVENTS_PER_LIFE = 12;
const SERVER = "srv_kill";
const WEBHOOK = "hook_kill";
const GATEHOUSE_SECRET = "a secret of thirty-two characters or more";
const SECRET = writeWebhookSecret(new Uint8Array(32).fill(1));
const FAULTS: readonly Reaction[] = [500, "reset", "close", 429, "redirect"];

afterEach(cleanUp);

async function withArchive<T>(path: string, work: (archive: Archive) => Promise<T>): Promise<T> {
  const archive = openLocalArchive(path);
  try {
    return await work(archive);
  } finally {
    await archive.close();
  }
}

async function addEvents(archive: Archive, from: number): Promise<void> {
  const { version } = await archive.load(SERVER);
  const events = Array.from({ length: EVENTS_PER_LIFE }, (_, n) => makeEvent(from + n));
  await archive.record([
    { serverId: SERVER, version, events, memory: [], history: NO_HISTORY, stillShown: [], now: EVENT_AT },
  ]);
}

test("a process that is killed while it delivers skips no event and changes no order", async () => {
  const receiver = await WebhookReceiver.start();
  undoLater(() => receiver.stop());
  receiver.secrets = [SECRET];
  let random = 1;
  const next = () => {
    random = (random * 48_271) % 2_147_483_647;
    return random / 2_147_483_647;
  };
  receiver.react = () => (next() < 0.3 ? (FAULTS[Math.floor(next() * FAULTS.length)] ?? 500) : 204);
  const folder = makeFolder();
  const path = join(folder, "archive.db");
  const sealer = createWebhookSealer(new Sealer(GATEHOUSE_SECRET));
  await withArchive(path, (archive) =>
    archive.createWebhook(
      makeWebhook({
        webhookId: WEBHOOK,
        serverId: SERVER,
        format: "standard",
        sealedUrl: sealer.seal(receiver.url, WEBHOOK, "url"),
        shownUrl: receiver.url.split("/").slice(0, 4).join("/"),
        sealedSecret: sealer.seal(SECRET, WEBHOOK, "secret"),
      }),
    ),
  );
  const env = {
    GATEHOUSE_DATA_DIR: folder,
    GATEHOUSE_SECRET,
    GATEHOUSE_UPSTREAM_URL: "http://127.0.0.1:9",
    GATEHOUSE_WEBHOOKS_PRIVATE: "allow",
    GATEHOUSE_WEBHOOKS_RETRY_MS: "5",
    GATEHOUSE_EVENTS_DAYS: "100000",
  };
  for (let life = 0; life <= KILLS; life++) {
    await withArchive(path, (archive) => addEvents(archive, life * EVENTS_PER_LIFE));
    const before = receiver.requests;
    const gatehouse = await serve({ cwd: folder, env });
    const total = (life + 1) * EVENTS_PER_LIFE;
    const enough = before + 1 + Math.floor(next() * 1.5 * EVENTS_PER_LIFE);
    const isLast = life === KILLS;
    await receiver.until(() => receiver.ids.length === total || (!isLast && receiver.requests >= enough));
    gatehouse.kill(isLast ? "SIGTERM" : "SIGKILL");
    await gatehouse.exited;
  }
  const { ids, place } = await withArchive(path, async (archive) => {
    const ids: string[] = [];
    let after: Parameters<Archive["readPage"]>[0]["start"] = { after: "earliest" };
    for (;;) {
      const page = await archive.readPage({
        serverId: SERVER,
        start: after,
        filter: filterAll(),
        limit: 500,
      });
      if ("expired" in page) throw new Error("the ledger has expired");
      ids.push(...page.events.map((event) => writeCursor(SERVER, event)));
      if (!page.hasMore) return { ids, place: (await archive.findWebhook(WEBHOOK))?.place };
      after = { after: page.next };
    }
  });
  expect(receiver.ids).toEqual(ids);
  expect(receiver.forged).toEqual([]);
  expect(place && writeCursor(SERVER, place)).toBe(ids.at(-1) ?? "");
  // A repeat comes only after a kill or an answer that was lost, and never out of order.
  let highest = -1;
  for (const { id } of receiver.accepted) {
    const number = ids.indexOf(id);
    expect(number).toBeLessThanOrEqual(highest + 1);
    highest = Math.max(highest, number);
  }
}, 600_000);
