// Forgetting a player in PostgreSQL, one step at a time. One instance takes a step at a time; the others leave it alone.
import type { TransactionSQL } from "bun";
import type { ForgottenPlayer } from "../../core/events/forget-player.ts";
import type { MemoryPart } from "../../core/events/memory-text.ts";
import {
  advance,
  eraseFromEvents,
  eraseFromMemory,
  FORGET_DELIVERIES_STEP,
  FORGET_EVENTS_STEP,
  FORGET_HISTORIES_STEP,
  FORGET_LEDGERS_STEP,
  FORGOTTEN_LISTED_MAX,
  type ForgettableEvent,
  type Forgetting,
  learnNames,
  listRememberedNames,
  type Phase,
} from "../forgetting.ts";
import { findHistoryName, forgetInHistory } from "./postgres-history.ts";

type ForgettingRow = { player: string; phase: Phase; ledger: string; number: string; names: string };
type EventRow = { ledger: string; number: string; kind: number; data: string; meta: string | null };

export async function startForgetting(tx: TransactionSQL, player: string): Promise<void> {
  await tx`INSERT INTO gatehouse_forgettings (player, phase, ledger, number, names)
    VALUES (${player}, 'names', 0, 0, '[]')
    ON CONFLICT (player) DO UPDATE SET phase = 'names' WHERE gatehouse_forgettings.phase = 'elsewhere'`;
}

/** True when there is more to do, also when another instance does it. */
export async function continueForgetting(tx: TransactionSQL): Promise<boolean> {
  const [row] = await tx<ForgettingRow[]>`
    SELECT * FROM gatehouse_forgettings WHERE phase <> 'elsewhere' ORDER BY player LIMIT 1 FOR UPDATE SKIP LOCKED`;
  if (row) {
    const { player, phase, ledger, number, names } = row;
    const progress = {
      player,
      phase,
      ledger: Number(ledger),
      number: Number(number),
      names: JSON.parse(names),
    };
    await save(tx, player, await step(tx, progress));
  }
  const left = await tx`SELECT 1 FROM gatehouse_forgettings WHERE phase <> 'elsewhere' LIMIT 1`;
  return left.length > 0;
}

export async function listForgotten(tx: TransactionSQL): Promise<ForgottenPlayer[]> {
  const rows = await tx<ForgettingRow[]>`SELECT * FROM gatehouse_forgettings WHERE phase = 'elsewhere'
    ORDER BY player LIMIT ${FORGOTTEN_LISTED_MAX}`;
  return rows.map(({ player, names }) => ({ id: player, names: JSON.parse(names) }));
}

export async function finishForgetting(tx: TransactionSQL, player: string): Promise<void> {
  await tx`DELETE FROM gatehouse_forgettings WHERE player = ${player} AND phase = 'elsewhere'`;
}

async function step(tx: TransactionSQL, progress: Forgetting): Promise<Forgetting> {
  switch (progress.phase) {
    case "names": {
      const events = await listLinked(tx, progress);
      const texts = events.flatMap(({ data, meta }) => [data, meta]);
      return advance(learnNames(progress, texts), events.at(-1), events.length === FORGET_EVENTS_STEP);
    }
    case "staff": {
      const ledgers = await listLedgers(tx, progress, FORGET_LEDGERS_STEP);
      const texts: string[] = [];
      for (const { ledger } of ledgers) {
        const parts = await listParts(tx, ledger);
        const kept = await findHistoryName(tx, ledger, progress.player);
        texts.push(...listRememberedNames(parts, progress.player, kept));
      }
      return advance(learnNames(progress, texts), ledgers.at(-1), ledgers.length === FORGET_LEDGERS_STEP);
    }
    case "memory": {
      const ledgers = await listLedgers(tx, progress, FORGET_LEDGERS_STEP);
      for (const { ledger } of ledgers) await eraseMemory(tx, progress, ledger);
      return advance(progress, ledgers.at(-1), ledgers.length === FORGET_LEDGERS_STEP);
    }
    case "history": {
      const ledgers = await listLedgers(tx, progress, FORGET_HISTORIES_STEP);
      for (const { ledger } of ledgers) {
        // The same ledger again: what was erased is not found any more.
        if (await forgetInHistory(tx, ledger, progress.player))
          return { ...progress, ledger: ledger - 1, number: 0 };
      }
      return advance(progress, ledgers.at(-1), ledgers.length === FORGET_HISTORIES_STEP);
    }
    case "deliveries": {
      const ledgers = await listLedgersWithWebhooks(tx, progress);
      for (const { ledger } of ledgers) await eraseAnswers(tx, ledger);
      return advance(progress, ledgers.at(-1), ledgers.length === FORGET_DELIVERIES_STEP);
    }
    case "texts": {
      const events = await listUnlinked(tx, progress);
      await write(tx, eraseFromEvents(progress, events));
      return advance(progress, events.at(-1), events.length === FORGET_EVENTS_STEP);
    }
    case "links": {
      const events = await listLinked(tx, progress);
      await write(tx, eraseFromEvents(progress, events));
      await unlink(tx, progress.player, events);
      return advance(progress, events.at(-1), events.length === FORGET_EVENTS_STEP);
    }
    case "elsewhere":
      return progress;
  }
}

async function save(tx: TransactionSQL, player: string, progress: Forgetting): Promise<void> {
  const { phase, ledger, number, names } = progress;
  await tx`UPDATE gatehouse_forgettings SET phase = ${phase}, ledger = ${ledger}, number = ${number},
      names = ${JSON.stringify(names)} WHERE player = ${player}`;
}

async function listLinked(
  tx: TransactionSQL,
  { player, ledger, number }: Forgetting,
): Promise<ForgettableEvent[]> {
  // Ledger by ledger, because the links of a player are found by ledger.
  const rows = await tx<EventRow[]>`
    SELECT e.ledger, e.number, e.kind, e.data, e.meta FROM gatehouse_ledgers l
      CROSS JOIN LATERAL (SELECT p.number FROM gatehouse_event_players p
        WHERE p.ledger = l.ledger AND p.player = ${player} AND (p.ledger, p.number) > (${ledger}::bigint, ${number}::bigint)
        ORDER BY p.number LIMIT ${FORGET_EVENTS_STEP}) AS linked
      JOIN gatehouse_events e ON e.ledger = l.ledger AND e.number = linked.number
    WHERE l.ledger >= ${ledger} ORDER BY e.ledger, e.number LIMIT ${FORGET_EVENTS_STEP}`;
  return rows.map(toEvent);
}

async function listUnlinked(
  tx: TransactionSQL,
  { player, ledger, number }: Forgetting,
): Promise<ForgettableEvent[]> {
  const rows = await tx<(EventRow & { is_linked: boolean })[]>`
    SELECT ledger, number, kind, data, meta, EXISTS (SELECT 1 FROM gatehouse_event_players p
      WHERE p.ledger = e.ledger AND p.player = ${player} AND p.number = e.number) AS is_linked
    FROM gatehouse_events e WHERE (ledger, number) > (${ledger}::bigint, ${number}::bigint)
    ORDER BY ledger, number LIMIT ${FORGET_EVENTS_STEP}`;
  // An event that is left out here must not change, so its texts are emptied; its place still counts.
  return rows.map((row) => toEvent(row.is_linked ? { ...row, data: "null", meta: null } : row));
}

async function listLedgers(
  tx: TransactionSQL,
  { ledger }: Forgetting,
  limit: number,
): Promise<{ ledger: number; number: number }[]> {
  const rows = await tx<{ ledger: string }[]>`SELECT ledger FROM gatehouse_ledgers WHERE ledger > ${ledger}
    ORDER BY ledger LIMIT ${limit}`;
  return rows.map((row) => ({ ledger: Number(row.ledger), number: 0 }));
}

async function listLedgersWithWebhooks(
  tx: TransactionSQL,
  { ledger }: Forgetting,
): Promise<{ ledger: number; number: number }[]> {
  const rows = await tx<{ ledger: string }[]>`SELECT DISTINCT ledger FROM gatehouse_webhooks
    WHERE ledger > ${ledger} ORDER BY ledger LIMIT ${FORGET_DELIVERIES_STEP}`;
  return rows.map((row) => ({ ledger: Number(row.ledger), number: 0 }));
}

/** The archive cannot open what receivers said, and any of it may name the player. */
async function eraseAnswers(tx: TransactionSQL, ledger: number): Promise<void> {
  // As in a deletion of a webhook, so that the two cannot wait for each other.
  await tx`SELECT 1 FROM gatehouse_webhooks WHERE ledger = ${ledger} ORDER BY webhook_id FOR UPDATE`;
  await tx`UPDATE gatehouse_deliveries SET sealed_answer = NULL WHERE ledger = ${ledger} AND sealed_answer IS NOT NULL`;
}

async function listParts(tx: TransactionSQL, ledger: number): Promise<MemoryPart[]> {
  return tx<MemoryPart[]>`SELECT part, text FROM gatehouse_memory WHERE ledger = ${ledger}`;
}

/** The version changes, so that a writer that remembers the player has to load the memory again. */
async function eraseMemory(tx: TransactionSQL, progress: Forgetting, ledger: number): Promise<void> {
  await tx`SELECT 1 FROM gatehouse_ledgers WHERE ledger = ${ledger} FOR UPDATE`;
  const parts = eraseFromMemory(progress, await listParts(tx, ledger));
  if (parts.length === 0) return;
  for (const { part, text } of parts) {
    await tx`INSERT INTO gatehouse_memory (ledger, part, text) VALUES (${ledger}, ${part}, ${text})
      ON CONFLICT (ledger, part) DO UPDATE SET text = excluded.text`;
  }
  await tx`UPDATE gatehouse_ledgers SET version = version + 1 WHERE ledger = ${ledger}`;
}

async function write(tx: TransactionSQL, events: readonly ForgettableEvent[]): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map(({ ledger, number, data, meta }) => ({ ledger, number, data, meta }));
  await tx`UPDATE gatehouse_events e SET data = changed.data, meta = changed.meta
    FROM json_to_recordset(${JSON.stringify(rows)}::text::json) AS
      changed (ledger bigint, number bigint, data text, meta text)
    WHERE e.ledger = changed.ledger AND e.number = changed.number`;
}

async function unlink(
  tx: TransactionSQL,
  player: string,
  events: readonly ForgettableEvent[],
): Promise<void> {
  const rows = events.map(({ ledger, number }) => ({ ledger, number }));
  await tx`DELETE FROM gatehouse_event_players p
    USING json_to_recordset(${JSON.stringify(rows)}::text::json) AS done (ledger bigint, number bigint)
    WHERE p.ledger = done.ledger AND p.number = done.number AND p.player = ${player}`;
}

function toEvent({ ledger, number, kind, data, meta }: EventRow): ForgettableEvent {
  return { ledger: Number(ledger), number: Number(number), kind, data, meta };
}
