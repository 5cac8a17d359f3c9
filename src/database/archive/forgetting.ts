// Forgetting a player, one step at a time. One instance works on a player; others may work on the next one.
import type { ForgottenPlayer } from "../../core/events/forget-player.ts";
import type { MemoryPart } from "../../core/events/memory-text.ts";
import type { Sql } from "../sql.ts";
import * as rules from "./forgetting-rules.ts";
import { findHistoryName, forgetInHistory } from "./history.ts";
import { findKnownNames, forgetKnown } from "./known-players.ts";
import { writeMemory } from "./ledger.ts";
import { forgetInModCalls } from "./mod-calls.ts";
import { eraseFromNotes } from "./notes.ts";

type ForgettingRow = { player: string; phase: rules.Phase; ledger: number; number: number; names: string };
type Place = { readonly ledger: number; readonly number: number };

export async function startForgetting(sql: Sql, player: string): Promise<void> {
  await sql.run(
    `INSERT INTO forgettings (player, phase, ledger, number, names) VALUES (?1, 'names', 0, 0, '[]')
     ON CONFLICT (player) DO UPDATE SET phase = 'names' WHERE forgettings.phase = 'elsewhere'`,
    player,
  );
}

/** True when there is more to do, also when another instance does it. */
export async function continueForgetting(sql: Sql): Promise<boolean> {
  const unfinished = "SELECT * FROM forgettings WHERE phase <> 'elsewhere' ORDER BY player LIMIT 1";
  const row = await sql.get<ForgettingRow>(`${unfinished} ${sql.dialect.forUpdateSkipLocked}`);
  if (row) await save(sql, row.player, await step(sql, { ...row, names: JSON.parse(row.names) }));
  return (await sql.get(unfinished)) !== undefined;
}

export async function listForgotten(sql: Sql): Promise<ForgottenPlayer[]> {
  const rows = await sql.all<ForgettingRow>(
    "SELECT * FROM forgettings WHERE phase = 'elsewhere' ORDER BY player LIMIT ?1",
    rules.FORGOTTEN_LISTED_MAX,
  );
  return rows.map(({ player, names }) => ({ id: player, names: JSON.parse(names) }));
}

export async function finishForgetting(sql: Sql, player: string): Promise<void> {
  await sql.run("DELETE FROM forgettings WHERE player = ?1 AND phase = 'elsewhere'", player);
}

async function step(sql: Sql, progress: rules.Forgetting): Promise<rules.Forgetting> {
  switch (progress.phase) {
    case "names": {
      const { events, last, hasMore } = await listLinked(sql, progress);
      return rules.advance(
        rules.learnNames(
          progress,
          events.flatMap(({ data, meta }) => [data, meta]),
        ),
        last,
        hasMore,
      );
    }
    case "staff": {
      const ledgers = await listLedgers(sql, progress, rules.FORGET_LEDGERS_STEP);
      const texts: string[] = [];
      for (const { ledger } of ledgers) {
        const kept = await findHistoryName(sql, ledger, progress.player);
        const known = await findKnownNames(sql, ledger, progress.player);
        const names = kept === undefined ? known : [kept, ...known];
        texts.push(...rules.listRememberedNames(await listParts(sql, ledger), progress.player, names));
      }
      return rules.advance(
        rules.learnNames(progress, texts),
        ledgers.at(-1),
        ledgers.length === rules.FORGET_LEDGERS_STEP,
      );
    }
    case "memory": {
      const ledgers = await listLedgers(sql, progress, rules.FORGET_LEDGERS_STEP);
      await lock(sql, ledgers);
      for (const { ledger } of ledgers) await eraseMemory(sql, progress, ledger);
      return rules.advance(progress, ledgers.at(-1), ledgers.length === rules.FORGET_LEDGERS_STEP);
    }
    case "history": {
      const ledgers = await listLedgers(sql, progress, rules.FORGET_HISTORIES_STEP);
      await lock(sql, ledgers);
      for (const { ledger } of ledgers) {
        await forgetKnown(sql, ledger, progress.player);
        // The same ledger again: what was erased is not found any more.
        if (await forgetInHistory(sql, ledger, progress.player)) return { ...progress, ledger: ledger - 1, number: 0 };
      }
      return rules.advance(progress, ledgers.at(-1), ledgers.length === rules.FORGET_HISTORIES_STEP);
    }
    case "notes":
      return eraseByTime(sql, progress, eraseFromNotes);
    case "calls":
      return eraseByTime(sql, progress, forgetInModCalls);
    case "deliveries": {
      const ledgers = await listLedgersWithWebhooks(sql, progress);
      for (const { ledger } of ledgers) await eraseAnswers(sql, ledger);
      return rules.advance(progress, ledgers.at(-1), ledgers.length === rules.FORGET_DELIVERIES_STEP);
    }
    case "texts": {
      const events = await listUnlinked(sql, progress);
      await write(sql, rules.eraseFromEvents(progress, events));
      return rules.advance(progress, events.at(-1), events.length === rules.FORGET_EVENTS_STEP);
    }
    case "links": {
      const { events, last, hasMore } = await listLinked(sql, progress);
      await write(sql, rules.eraseFromEvents(progress, events));
      await sql.runEach(
        "DELETE FROM event_players WHERE ledger = ?1 AND player = ?2 AND number = ?3",
        events.map(({ ledger, number }) => [ledger, progress.player, number]),
      );
      return rules.advance(progress, last, hasMore);
    }
    case "elsewhere":
      return progress;
  }
}

/** Returns the time up to which it is done; undefined when that is all. */
type EraseByTime = (sql: Sql, ledger: number, progress: rules.Forgetting, after: number) => Promise<number | undefined>;

async function eraseByTime(sql: Sql, progress: rules.Forgetting, erase: EraseByTime): Promise<rules.Forgetting> {
  // The ledger of the progress again: it may have more.
  const ledgers = await listLedgers(sql, { ...progress, ledger: progress.ledger - 1 }, rules.FORGET_HISTORIES_STEP);
  await lock(sql, ledgers);
  for (const { ledger } of ledgers) {
    const isBegun = ledger === progress.ledger && progress.number !== 0;
    const number = await erase(sql, ledger, progress, isBegun ? progress.number : Number.MIN_SAFE_INTEGER);
    if (number !== undefined) return { ...progress, ledger, number };
  }
  const next = (ledgers.at(-1)?.ledger ?? 0) + 1;
  return rules.advance(progress, { ledger: next, number: 0 }, ledgers.length === rules.FORGET_HISTORIES_STEP);
}

async function save(sql: Sql, player: string, progress: rules.Forgetting): Promise<void> {
  const { phase, ledger, number, names } = progress;
  await sql.run(
    "UPDATE forgettings SET phase = ?2, ledger = ?3, number = ?4, names = ?5 WHERE player = ?1",
    ...[player, phase, ledger, number, JSON.stringify(names)],
  );
}

/** Ledger by ledger, because the links of a player are found by ledger. */
async function listLinked(
  sql: Sql,
  { player, ledger, number }: rules.Forgetting,
): Promise<{ readonly events: rules.ForgettableEvent[]; readonly last: Place | undefined; readonly hasMore: boolean }> {
  const ledgers = await sql.all<{ ledger: number }>(
    "SELECT ledger FROM ledgers WHERE ledger >= ?1 ORDER BY ledger LIMIT ?2",
    ...[ledger, rules.FORGET_LEDGERS_STEP],
  );
  const events: rules.ForgettableEvent[] = [];
  for (const one of ledgers) {
    const after = one.ledger === ledger ? number : 0;
    const found = await sql.all<rules.ForgettableEvent>(
      `SELECT ledger, number, kind, data, meta FROM event_players JOIN events USING (ledger, number)
       WHERE ledger = ?1 AND player = ?2 AND number > ?3 ORDER BY number LIMIT ?4`,
      ...[one.ledger, player, after, rules.FORGET_EVENTS_STEP - events.length],
    );
    events.push(...found);
    if (events.length === rules.FORGET_EVENTS_STEP) return { events, last: events.at(-1), hasMore: true };
  }
  const last = ledgers.at(-1);
  return {
    events,
    last: last && { ledger: last.ledger + 1, number: 0 },
    hasMore: ledgers.length === rules.FORGET_LEDGERS_STEP,
  };
}

async function listUnlinked(sql: Sql, { player, ledger, number }: rules.Forgetting): Promise<rules.ForgettableEvent[]> {
  const rows = await sql.all<rules.ForgettableEvent & { is_linked: number }>(
    `SELECT ledger, number, kind, data, meta, CASE WHEN EXISTS (SELECT 1 FROM event_players p
       WHERE p.ledger = e.ledger AND p.player = ?1 AND p.number = e.number) THEN 1 ELSE 0 END AS is_linked
     FROM events e WHERE (ledger, number) > (?2, ?3) ORDER BY ledger, number LIMIT ?4`,
    ...[player, ledger, number, rules.FORGET_EVENTS_STEP],
  );
  // An event that is left out here must not change, so its texts are emptied; its place still counts.
  return rows.map((row) => (row.is_linked === 1 ? { ...row, data: "null", meta: null } : row));
}

function listLedgers(sql: Sql, { ledger }: rules.Forgetting, limit: number): Promise<Place[]> {
  return sql.all<Place>(
    "SELECT ledger, 0 AS number FROM ledgers WHERE ledger > ?1 ORDER BY ledger LIMIT ?2",
    ...[ledger, limit],
  );
}

function listLedgersWithWebhooks(sql: Sql, { ledger }: rules.Forgetting): Promise<Place[]> {
  return sql.all<Place>(
    "SELECT DISTINCT ledger, 0 AS number FROM webhooks WHERE ledger > ?1 ORDER BY ledger LIMIT ?2",
    ...[ledger, rules.FORGET_DELIVERIES_STEP],
  );
}

/** The archive cannot open what receivers said, and any of it may name the player. */
async function eraseAnswers(sql: Sql, ledger: number): Promise<void> {
  // As in a deletion of a webhook, so that the two cannot wait for each other.
  await sql.all(`SELECT 1 FROM webhooks WHERE ledger = ?1 ORDER BY webhook_id ${sql.dialect.forUpdate}`, ledger);
  await sql.run("UPDATE deliveries SET sealed_answer = NULL WHERE ledger = ?1 AND sealed_answer IS NOT NULL", ledger);
}

function listParts(sql: Sql, ledger: number): Promise<MemoryPart[]> {
  return sql.all<MemoryPart>("SELECT part, text FROM memory WHERE ledger = ?1", ledger);
}

/** The version changes, so that a writer that remembers the player has to load the memory again. */
async function eraseMemory(sql: Sql, progress: rules.Forgetting, ledger: number): Promise<void> {
  const parts = rules.eraseFromMemory(progress, await listParts(sql, ledger));
  if (parts.length === 0) return;
  await writeMemory(sql, ledger, parts);
  await sql.run("UPDATE ledgers SET version = version + 1 WHERE ledger = ?1", ledger);
}

/** In the order in which records and pruning lock them, so that they cannot wait for each other. */
async function lock(sql: Sql, ledgers: readonly Pick<Place, "ledger">[]): Promise<void> {
  const { isAmong, forUpdate } = sql.dialect;
  await sql.all(
    `SELECT ledger FROM ledgers WHERE ${isAmong("ledger", "?1", "integer")} ORDER BY server_id ${forUpdate}`,
    JSON.stringify(ledgers.map(({ ledger }) => ledger)),
  );
}

async function write(sql: Sql, events: readonly rules.ForgettableEvent[]): Promise<void> {
  await lock(sql, events);
  await sql.runEach(
    "UPDATE events SET data = ?3, meta = ?4 WHERE ledger = ?1 AND number = ?2",
    events.map(({ ledger, number, data, meta }) => [ledger, number, data, meta]),
  );
}
