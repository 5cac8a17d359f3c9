// The store: what must last of servers, keys, people, commands, blocks, usage, audit and settings, on SQLite or PostgreSQL.
import { randomUUID } from "node:crypto";
import { HISTORY_LIMITS, type HistoryLimits } from "../../core/commands/command.ts";
import { StoreUnavailable } from "../../core/errors.ts";
import type { LimitStore } from "../../core/ports/limits.ts";
import type { Store, TidyTimes } from "../../core/ports/store.ts";
import type { Sealer } from "../sealer.ts";
import type { Driver, Sql } from "../sql.ts";
import { AuditTable } from "./audit.ts";
import { BlockTable, type BlockTableDeps } from "./blocks.ts";
import { Changes } from "./changes.ts";
import { CommandTable } from "./commands.ts";
import { Directory, type DirectoryDeps, VERSIONS_KEPT } from "./directory.ts";
import { KeyTable } from "./keys.ts";
import { PeopleTable, RoleTable } from "./people.ts";
import { ServerTable } from "./servers.ts";
import { SettingsTable } from "./settings.ts";
import { InvitationTable, PasskeyTable, SessionTable, UsedChallengeTable } from "./sign-ins.ts";
import { UsageTable } from "./usage.ts";

const TIDY_BATCH = 500;
/** How long to wait for another instance's batch. */
const LOCKED_MS = 50;
/** Only one instance deletes old rows at a time. The number is ours alone. */
const TIDY_LOCK = 0x47544854;
/** How long a request waits for what other instances have changed. It may have to wait for another one that began before. */
const CATCH_UP_DEADLINE_MS = 4_500;

export type DatabaseStoreDeps = {
  readonly driver: Driver;
  readonly sealer: Sealer;
  readonly instanceId: () => string;
  /** Of a database in this process. */
  readonly getNow?: DirectoryDeps["getNow"];
  readonly runNow?: BlockTableDeps["runNow"];
  /** How requests are counted. */
  readonly openLimits: (store: DatabaseStore) => LimitStore;
  readonly historyLimits?: HistoryLimits | undefined;
  readonly truncateLog?: (() => boolean) | undefined;
  readonly close: () => Promise<void>;
};

export class DatabaseStore implements Store {
  readonly directory: Directory;
  readonly changes: Changes;
  readonly servers: ServerTable;
  readonly keys: KeyTable;
  readonly people: PeopleTable;
  readonly roles: RoleTable;
  readonly sessions: SessionTable;
  readonly invitations: InvitationTable;
  readonly passkeys: PasskeyTable;
  readonly challenges: UsedChallengeTable;
  readonly blocks: BlockTable;
  readonly limits: LimitStore;
  readonly usage: UsageTable;
  readonly audit: AuditTable;
  readonly settings: SettingsTable;
  readonly commands: CommandTable;
  readonly driver: Driver;
  #isClosed = false;

  constructor(private readonly deps: DatabaseStoreDeps) {
    const { driver, sealer, instanceId, getNow, truncateLog } = deps;
    const directory = new Directory({ driver, getNow });
    const changes = new Changes({ driver, directory });
    this.directory = directory;
    this.changes = changes;
    this.driver = driver;
    const historyLimits = deps.historyLimits ?? HISTORY_LIMITS;
    this.servers = new ServerTable({ driver, changes, directory, sealer, historyLimits });
    this.keys = new KeyTable({ driver, changes, directory });
    this.people = new PeopleTable({ driver, changes, directory });
    this.roles = new RoleTable({ driver, changes, directory });
    this.sessions = new SessionTable({ driver, changes });
    this.invitations = new InvitationTable({ driver, changes });
    this.passkeys = new PasskeyTable({ driver, changes });
    this.challenges = new UsedChallengeTable(driver);
    this.blocks = new BlockTable({ changes, directory, runNow: deps.runNow });
    this.usage = new UsageTable(driver);
    this.audit = new AuditTable(driver);
    this.settings = new SettingsTable(driver, changes);
    this.commands = new CommandTable({ driver, instanceId, historyLimits, ...(truncateLog && { truncateLog }) });
    this.limits = deps.openLimits(this);
  }

  async tidy({ now, usage, audit, commands }: TidyTimes): Promise<void> {
    // Each alone: together they would take their locks in another order than changes of keys do.
    const ended: [string, number][] = [
      ["DELETE FROM deleted_servers WHERE deleted_at < ?1", audit],
      ["DELETE FROM blocks WHERE blocked_until <= ?1", now],
      ["DELETE FROM tokens WHERE valid_until <= ?1", now],
      ...["person_sessions", "invitations", "used_challenges"].map((table): [string, number] => [
        `DELETE FROM ${table} WHERE expires_at <= ?1`,
        now,
      ]),
      ["DELETE FROM changes WHERE version <= (SELECT version FROM directory) - ?1", VERSIONS_KEPT],
    ];
    for (const [text, value] of ended) await this.#tidyOnce((sql) => sql.run(text, value));
    await this.commands.tidy(now, commands, (deleteBatch) => this.#tidyInBatches(deleteBatch), TIDY_BATCH);
    await this.#tidyInBatches((sql) =>
      sql.run(
        `DELETE FROM usage WHERE (key_id, hour, code) IN
         (SELECT key_id, hour, code FROM usage WHERE hour < ?1 LIMIT ?2)`,
        ...[usage, TIDY_BATCH],
      ),
    );
    await this.#tidyInBatches((sql) =>
      sql.run("DELETE FROM audit WHERE seq IN (SELECT seq FROM audit WHERE at < ?1 LIMIT ?2)", audit, TIDY_BATCH),
    );
  }

  async catchUp(): Promise<void> {
    // A database in this process has one instance.
    if (this.deps.getNow) return;
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => reject(new StoreUnavailable("what has changed could not be read in time")),
      CATCH_UP_DEADLINE_MS,
    );
    try {
      await Promise.race([this.directory.catchUp(), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  async checkHealth(): Promise<void> {
    // A new value each time, because SQLite writes nothing when the value is the same.
    await this.settings.save("last-health-check", randomUUID());
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.limits.close();
    await this.deps.close();
  }

  /** Sleeps as long as each batch took, so that requests get at least half of the time: there may be very many rows. */
  async #tidyInBatches(deleteBatch: (sql: Sql) => Promise<number>): Promise<void> {
    while (!this.#isClosed) {
      const startedAt = performance.now();
      if ((await this.#tidyOnce(deleteBatch)) < TIDY_BATCH) return;
      await Bun.sleep(performance.now() - startedAt);
    }
  }

  async #tidyOnce(deleteBatch: (sql: Sql) => Promise<number>): Promise<number> {
    while (!this.#isClosed) {
      const deleted = await this.driver.transact(async (sql) =>
        (await sql.tryLock(TIDY_LOCK)) ? deleteBatch(sql) : undefined,
      );
      if (deleted !== undefined) return deleted;
      await Bun.sleep(LOCKED_MS);
    }
    return 0;
  }
}
