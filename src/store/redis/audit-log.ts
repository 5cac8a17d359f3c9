// The audit log: a sorted set. Each entry is added by the script that makes the change, and never altered.
import { type AuditEntry, type AuditNote, type AuditStore, parseAuditId } from "../../core/ports/audit.ts";
import type { Page, PageRequest } from "../../core/ports/pages.ts";
import { NAMES } from "./names.ts";
import type { ScriptTimes } from "./redis-clock.ts";
import type { RedisLink, Reply } from "./redis-link.ts";
import { createScript } from "./script.ts";
import tidyAuditText from "./scripts/tidy-audit.lua" with { type: "text" };

const TIDY = createScript(tidyAuditText);
const TIDY_BATCH = 500;

export class AuditLog implements AuditStore {
  readonly #link: RedisLink;
  readonly #times: ScriptTimes;

  constructor(link: RedisLink, times: ScriptTimes) {
    this.#link = link;
    this.#times = times;
  }

  async list({ limit, cursor }: PageRequest): Promise<Page<AuditEntry>> {
    const before = cursor === undefined ? "+inf" : `(${Number.parseInt(cursor, 36) || 0}`;
    const range = ["ZRANGE", NAMES.audit, before, "-inf", "BYSCORE", "REV", "LIMIT", 0, limit + 1];
    const members = (await this.#link.send(NAMES.audit, ...range)) as string[];
    const items = members.slice(0, limit).map(parseEntry);
    const last = items.at(-1);
    return { items, next: members.length > limit && last ? last.id.slice("aud_".length) : null };
  }

  async find(id: string): Promise<AuditEntry | undefined> {
    const number = parseAuditId(id);
    if (number === undefined) return undefined;
    const range = ["ZRANGE", NAMES.audit, number, number, "BYSCORE", "LIMIT", 0, 1];
    const [member] = (await this.#link.send(NAMES.audit, ...range)) as string[];
    return member === undefined ? undefined : parseEntry(member);
  }

  /** In batches, so that each script is short. */
  async forgetBefore(time: number, now: number): Promise<void> {
    let deleted: Reply;
    do {
      deleted = await this.#link.run(TIDY, [NAMES.audit], [...this.#times(now), time, TIDY_BATCH]);
    } while (deleted === TIDY_BATCH);
  }
}

function parseEntry(member: string): AuditEntry {
  const space = member.indexOf(" ");
  const entry = JSON.parse(member.slice(space + 1)) as AuditNote & { target: string };
  return { id: `aud_${Number(member.slice(0, space)).toString(36)}`, ...entry };
}
