// The archive in PostgreSQL, shared by several instances. The row of a ledger is locked while events are added, so numbers
// become readable in their order.
import type { TransactionSQL } from "bun";
import type { AlertRules } from "../../core/alerts/rules.ts";
import { ArchiveUnavailable } from "../../core/errors.ts";
import type { LedgerPlace } from "../../core/events/cursor.ts";
import type { EventFilter } from "../../core/events/event-types.ts";
import type { ForgottenPlayer } from "../../core/events/forget-player.ts";
import { type MemoryPart, parseMemory } from "../../core/events/memory-text.ts";
import type { Counts, Resolution } from "../../core/history/counts.ts";
import type { MapImage, MapImageFacts } from "../../core/map-image.ts";
import type {
  Archive,
  KnownServer,
  LedgerPage,
  LedgerRecord,
  PageRequest,
  RecordOutcome,
  Retention,
} from "../../core/ports/archive.ts";
import type {
  CountDetail,
  KeptSession,
  OpenHistory,
  Period,
  Presence,
  SessionsRequest,
  StaffFacts,
} from "../../core/ports/history.ts";
import type { StateChange } from "../../core/ports/state-changes.ts";
import type {
  AttemptProgress,
  ExpectedWebhook,
  WebhookChange,
  WebhookCreation,
} from "../../core/ports/webhooks.ts";
import type { SeenPlace } from "../../core/seen-places.ts";
import type { Delivery, Webhook } from "../../core/webhooks/webhook.ts";
import { ALERT_RULES_PART, parseAlertRules, writeAlertRules } from "../alert-rules-part.ts";
import { initialMark, REMOVED_PREFIX, startOfPage } from "../ledger-rules.ts";
import { STATE_KINDS, toStateChange } from "../state-kinds.ts";
import { PostgresConnection } from "./postgres-connection.ts";
import {
  continueForgetting,
  finishForgetting,
  listForgotten,
  startForgetting,
} from "./postgres-forgetting.ts";
import {
  listSessions,
  readCounts,
  readOpenHistory,
  readStaff,
  sumPresence,
} from "./postgres-history-questions.ts";
import {
  boundsOf,
  holds,
  type LedgerRow,
  lockLedger,
  readPage,
  recordOne,
  writeMemory,
} from "./postgres-ledger.ts";
import { addPlaces, findImage, listPlaces, readImage, removeImage, saveImage } from "./postgres-maps.ts";
import { prune } from "./postgres-pruning.ts";
import {
  countWaiting,
  createWebhook,
  deleteWebhook,
  findWebhook,
  listDeliveries,
  listWebhooks,
  noteAttempt,
  updateWebhook,
} from "./postgres-webhooks.ts";

export class PostgresArchive implements Archive {
  readonly #connection: PostgresConnection;

  constructor(url: string) {
    this.#connection = new PostgresConnection(url);
  }

  /** Throws ArchiveUnavailable with the reason when the database cannot be used, PostgresTooOld as its cause if that is it. */
  async check(): Promise<void> {
    await this.#connection.run(async () => {});
  }

  load(serverId: string): Promise<KnownServer> {
    return this.#connection.run(async (tx) => {
      // Both in one statement, so that the memory belongs to the version.
      const rows = await tx<{ version: string; part: string | null; text: string | null }[]>`
        SELECT version, part, text FROM gatehouse_ledgers
        LEFT JOIN gatehouse_memory USING (ledger) WHERE server_id = ${serverId}`;
      const parts = rows.filter((row): row is MemoryPart & { version: string } => row.part !== null);
      return { version: Number(rows[0]?.version ?? 0), memory: parseMemory(parts) };
    });
  }

  findRecorded(serverId: string, identities: readonly string[]): Promise<ReadonlySet<string>> {
    return this.#connection.run(async (tx) => {
      const found = await tx<{ identity: string }[]>`
        SELECT identity FROM gatehouse_identities JOIN gatehouse_ledgers USING (ledger)
        WHERE server_id = ${serverId}
          AND identity IN (SELECT json_array_elements_text(${JSON.stringify(identities)}::text::json))`;
      return new Set(found.map(({ identity }) => identity));
    });
  }

  record(records: readonly LedgerRecord[]): Promise<readonly RecordOutcome[]> {
    return this.#connection.run(async (tx, archiveId) => {
      const outcomes = new Map<LedgerRecord, RecordOutcome>();
      // Always in the same order, so that two instances cannot wait for each other.
      const sorted = records.toSorted((a, b) => (a.serverId < b.serverId ? -1 : 1));
      for (const record of sorted) outcomes.set(record, await recordOne(tx, archiveId, record));
      return records.map((record) => outcomes.get(record) ?? { conflict: true as const });
    });
  }

  readPage(request: PageRequest): Promise<LedgerPage> {
    return this.#connection.run(async (tx, archiveId) => {
      // One snapshot for all queries of the page.
      await tx`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`;
      return readPage(tx, archiveId, request);
    });
  }

  findLast(serverIds: readonly string[]): Promise<ReadonlyMap<string, LedgerPlace>> {
    return this.#connection.run(async (tx) => {
      const rows = await tx<{ server_id: string; last_number: string; last_mark: string }[]>`
        SELECT server_id, last_number, last_mark FROM gatehouse_ledgers
        WHERE server_id IN (SELECT json_array_elements_text(${JSON.stringify(serverIds)}::text::json))`;
      return new Map(
        rows.map(({ server_id, last_number, last_mark }) => {
          return [server_id, { number: Number(last_number), mark: Number(last_mark) }];
        }),
      );
    });
  }

  prune(retention: Retention): Promise<boolean> {
    return this.#connection.run((tx) => prune(tx, retention));
  }

  /** Takes the ledger out of reach at once; its rows are deleted by `prune`, in steps. */
  removeServer(serverId: string): Promise<void> {
    return this.#connection.run(async (tx) => {
      const [row] = await tx<{ ledger: string }[]>`UPDATE gatehouse_ledgers
        SET server_id = ${REMOVED_PREFIX} || ledger WHERE server_id = ${serverId} RETURNING ledger`;
      if (row) await tx`DELETE FROM gatehouse_webhooks WHERE ledger = ${row.ledger}`;
    });
  }

  startForgetting(playerId: string): Promise<void> {
    return this.#connection.run((tx) => startForgetting(tx, playerId));
  }

  continueForgetting(): Promise<boolean> {
    return this.#connection.run((tx) => continueForgetting(tx));
  }

  listForgotten(): Promise<readonly ForgottenPlayer[]> {
    return this.#connection.run((tx) => listForgotten(tx));
  }

  finishForgetting(playerId: string): Promise<void> {
    return this.#connection.run((tx) => finishForgetting(tx, playerId));
  }

  addPlaces(serverId: string, places: readonly SeenPlace[]): Promise<void> {
    return this.#connection.run((tx) => addPlaces(tx, serverId, places));
  }

  listPlaces(serverId: string): Promise<readonly SeenPlace[]> {
    return this.#connection.run((tx) => listPlaces(tx, serverId));
  }

  saveMapImage(serverId: string, image: MapImage): Promise<void> {
    return this.#connection.run(async (tx, archiveId) => {
      const row = await lockLedger(tx, archiveId, serverId, 0);
      if (row) await saveImage(tx, row.ledger, image);
    });
  }

  findMapImage(serverId: string): Promise<MapImageFacts | undefined> {
    return this.#connection.run((tx) => findImage(tx, serverId));
  }

  readMapImage(serverId: string): Promise<MapImage | undefined> {
    return this.#connection.run((tx) => readImage(tx, serverId));
  }

  removeMapImage(serverId: string): Promise<void> {
    return this.#connection.run((tx) => removeImage(tx, serverId));
  }

  listWebhooks(serverId?: string): Promise<readonly Webhook[]> {
    return this.#connection.run((tx) => listWebhooks(tx, serverId));
  }

  findWebhook(webhookId: string): Promise<Webhook | undefined> {
    return this.#connection.run((tx) => findWebhook(tx, webhookId));
  }

  createWebhook(webhook: Omit<Webhook, "place">): Promise<WebhookCreation> {
    return this.#connection.run(async (tx, archiveId) => {
      const row = await lockLedger(tx, archiveId, webhook.serverId, 0);
      if (!row) throw new ArchiveUnavailable("the server was deleted meanwhile");
      const place = { number: Number(row.last_number), mark: Number(row.last_mark) };
      return createWebhook(tx, row.ledger, place, webhook);
    });
  }

  updateWebhook(webhookId: string, change: WebhookChange): Promise<boolean> {
    return this.#connection.run((tx) => updateWebhook(tx, webhookId, change));
  }

  deleteWebhook(webhookId: string): Promise<boolean> {
    return this.#connection.run((tx) => deleteWebhook(tx, webhookId));
  }

  noteAttempt(
    webhookId: string,
    expected: ExpectedWebhook,
    progress: AttemptProgress,
    delivery: Delivery | undefined,
  ): Promise<boolean> {
    return this.#connection.run((tx) => noteAttempt(tx, webhookId, expected, progress, delivery));
  }

  listDeliveries(webhookId: string): Promise<readonly Delivery[]> {
    return this.#connection.run((tx) => listDeliveries(tx, webhookId));
  }

  countWaiting(serverId: string, after: LedgerPlace, filter: EventFilter): Promise<number> {
    return this.#connection.run(async (tx, archiveId) => {
      await tx`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`;
      const [row] = await tx<LedgerRow[]>`SELECT * FROM gatehouse_ledgers WHERE server_id = ${serverId}`;
      if (!row) return 0;
      const bounds = boundsOf(row, initialMark(archiveId, serverId));
      const place = startOfPage({ after }, bounds);
      // A webhook whose place does not hold goes on with the oldest event.
      const from = (await holds(tx, row.ledger, place, bounds)) ? place : bounds.floor;
      return countWaiting(tx, row.ledger, from.number, filter);
    });
  }

  listStateChanges(serverId: string, limit: number): Promise<readonly StateChange[]> {
    return this.#connection.run(async (tx) => {
      // For each kind on its own, so that each is read from the end of its index.
      const rows = await tx<{ kind: number; at: string }[]>`
        SELECT kind, at FROM gatehouse_ledgers
        CROSS JOIN json_array_elements_text(${JSON.stringify(STATE_KINDS)}::text::json) AS wanted
        CROSS JOIN LATERAL (
          SELECT kind, at, number FROM gatehouse_events
          WHERE ledger = gatehouse_ledgers.ledger AND kind = wanted::integer AND NOT is_backfill
          ORDER BY number DESC LIMIT ${limit}) AS newest
        WHERE server_id = ${serverId} ORDER BY number DESC LIMIT ${limit}`;
      return rows.map(toStateChange);
    });
  }

  readAlertRules(serverId: string): Promise<AlertRules> {
    return this.#connection.run(async (tx) => {
      const [row] = await tx<{ text: string }[]>`SELECT text FROM gatehouse_memory
        JOIN gatehouse_ledgers USING (ledger) WHERE server_id = ${serverId} AND part = ${ALERT_RULES_PART}`;
      return parseAlertRules(row?.text);
    });
  }

  setAlertRules(serverId: string, rules: AlertRules): Promise<void> {
    return this.#connection.run(async (tx, archiveId) => {
      const row = await lockLedger(tx, archiveId, serverId, 0);
      if (!row) throw new ArchiveUnavailable("the server was deleted meanwhile");
      await writeMemory(tx, row.ledger, writeAlertRules(rules));
      await tx`UPDATE gatehouse_ledgers SET version = version + 1 WHERE ledger = ${row.ledger}`;
    });
  }

  readCounts(
    serverId: string,
    resolution: Resolution,
    period: Period,
    detail?: CountDetail,
  ): Promise<readonly Counts[]> {
    return this.#connection.run((tx) => readCounts(tx, serverId, resolution, period, detail));
  }

  readOpenHistory(serverId: string): Promise<OpenHistory> {
    return this.#connection.run((tx) => readOpenHistory(tx, serverId));
  }

  listSessions(request: SessionsRequest): Promise<readonly KeptSession[]> {
    return this.#ask((tx) => listSessions(tx, request));
  }

  sumPresence(
    serverId: string,
    period: Period,
    open: readonly Presence[],
    page: { readonly offset: number; readonly limit: number },
  ): Promise<readonly Presence[]> {
    return this.#ask((tx) => sumPresence(tx, serverId, period, open, page));
  }

  readStaff(serverId: string, period: Period, also: readonly string[]): Promise<StaffFacts> {
    return this.#ask((tx) => readStaff(tx, serverId, period, also));
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /** One snapshot for all queries of a question. */
  #ask<T>(question: (tx: TransactionSQL) => Promise<T>): Promise<T> {
    return this.#connection.run(async (tx) => {
      await tx`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`;
      return question(tx);
    });
  }
}
