// Audit entries about commands. A cluster keeps the commands of a server and the audit log on different nodes, so one script
// cannot write both. The script that changes a command writes the entry into an outbox beside it; from there it is moved to
// the audit log, exactly once: an entry is added under the id of its command, and only then removed from the outbox.
import { HOUR_MS } from "../../core/durations.ts";
import type { AuditNote } from "../../core/ports/audit.ts";
import type { Clock } from "../../core/ports/clock.ts";
import { findServerOf } from "../command-id.ts";
import type { Directory } from "./directory.ts";
import { NAMES } from "./names.ts";
import type { RedisClock, ScriptTimes } from "./redis-clock.ts";
import type { RedisLink } from "./redis-link.ts";
import { toPairs } from "./shared-limits.ts";

/** The id of a delivered entry is kept this long: longer than any script for the same entry can be under way. */
const DELIVERED_KEPT_MS = HOUR_MS;
const SCANNED_AT_ONCE = 500;

export class AuditOutbox {
  readonly #link: RedisLink;
  readonly #directory: Directory;
  readonly #times: ScriptTimes;
  readonly #clock: Clock;

  constructor(link: RedisLink, directory: Directory, { times, now }: Pick<RedisClock, "times" | "now">) {
    this.#link = link;
    this.#directory = directory;
    this.#times = times;
    this.#clock = now;
  }

  /** Moves the entries of a server to the audit log. Several instances may do so at the same time. */
  async deliver(serverId: string): Promise<void> {
    const outbox = NAMES.outbox(serverId);
    // The deadline is set before the read: a delayed script must not add an entry again whose id was forgotten since.
    const times = this.#times();
    const entries = (await this.#link.send(outbox, "HGETALL", outbox)) as string[];
    for (const [commandId, text] of toPairs(entries)) {
      const note = JSON.parse(text) as AuditNote;
      await this.#directory.addNoteOnce(commandId, note, this.#clock(), times);
      await this.#link.send(outbox, "HDEL", outbox, commandId);
    }
  }

  /** Forgets the ids of delivered entries that are no longer in their outbox. */
  async forgetDelivered(now: number): Promise<void> {
    const name = NAMES.deliveredNotes;
    let cursor = "0";
    do {
      const reply = await this.#link.send(name, "HSCAN", name, cursor, "COUNT", SCANNED_AT_ONCE);
      const [next, pairs] = reply as [string, string[]];
      for (const [commandId, deliveredAt] of toPairs(pairs)) {
        if (now - Number(deliveredAt) > DELIVERED_KEPT_MS) await this.#forget(commandId);
      }
      cursor = next;
    } while (cursor !== "0");
  }

  async #forget(commandId: string): Promise<void> {
    const outbox = NAMES.outbox(findServerOf(commandId) ?? "");
    const isThere = await this.#link.send(outbox, "HEXISTS", outbox, commandId);
    if (isThere === 0) await this.#link.send(NAMES.deliveredNotes, "HDEL", NAMES.deliveredNotes, commandId);
  }
}
