// The spam blocks. They outlast restarts, and all that are in force are in memory.
import type { MaybePromise } from "../../core/maybe-promise.ts";
import { parseCallerId } from "../../core/people/person.ts";
import type { AuditNote } from "../../core/ports/audit.ts";
import type { Block, BlockStore } from "../../core/ports/limits.ts";
import type { Sql, Value } from "../sql.ts";
import type { Changes } from "./changes.ts";
import type { Directory } from "./directory.ts";

/** A key that was revoked meanwhile gets none. */
const SAVE = writeSave("NOT EXISTS (SELECT 1 FROM keys WHERE key_id = ?1 AND revoked_at IS NOT NULL)");

/** A person who was deleted meanwhile, or whose server was, gets none. */
const SAVE_OF_PERSON = writeSave("EXISTS (SELECT 1 FROM people, servers WHERE person_id = ?3 AND server_id = ?4)");

export type BlockTableDeps = {
  readonly changes: Changes;
  readonly directory: Directory;
  /** Of a database in this process, which no other instance uses. */
  readonly runNow?: ((text: string, ...values: readonly Value[]) => void) | undefined;
};

export class BlockTable implements BlockStore {
  constructor(private readonly deps: BlockTableDeps) {}

  find(keyId: string): number {
    return this.deps.directory.blocks.get(keyId) ?? 0;
  }

  async list(now: number): Promise<readonly Block[]> {
    const blocks: Block[] = [];
    for (const [keyId, blockedUntil] of this.deps.directory.blocks)
      if (blockedUntil > now) blocks.push({ keyId, blockedUntil });
    return blocks;
  }

  save(keyId: string, blockedUntil: number): MaybePromise<void> {
    const { changes, directory, runNow } = this.deps;
    const caller = parseCallerId(keyId);
    const text = caller ? SAVE_OF_PERSON : SAVE;
    const values = [keyId, blockedUntil, ...(caller ? [caller.personId, caller.serverId] : [])];
    if (!runNow) return changes.make([keyId], (sql) => sql.run(text, ...values)).then(() => {});
    runNow(text, ...values);
    if (!caller || directory.isKnown(caller)) directory.setBlock(keyId, blockedUntil);
  }

  async lift(keyId: string, now: number, note?: AuditNote): Promise<void> {
    const lift = async (sql: Sql) => {
      const isLifted = await sql.run("DELETE FROM blocks WHERE key_id = ?1 AND blocked_until > ?2", keyId, now);
      return isLifted > 0 || undefined;
    };
    await this.deps.changes.make([keyId], lift, { target: keyId, note });
  }
}

function writeSave(condition: string): string {
  return `INSERT INTO blocks (key_id, blocked_until) SELECT ?1, ?2 WHERE ${condition}
    ON CONFLICT (key_id) DO UPDATE SET blocked_until = excluded.blocked_until`;
}
