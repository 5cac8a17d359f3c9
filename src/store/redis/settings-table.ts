// Named values in Redis, and the check that all instances use the same secret.
import { StartRefused } from "../../core/errors.ts";
import type { AuditNote } from "../../core/ports/audit.ts";
import type { SettingStore } from "../../core/ports/settings.ts";
import type { Sealer } from "../sealer.ts";
import { isRightSecret, SECRET_CHECK, sealSecretCheck } from "../secret-check.ts";
import type { Directory } from "./directory.ts";
import { NAMES } from "./names.ts";
import type { RedisLink } from "./redis-link.ts";

export class SettingsTable implements SettingStore {
  readonly #link: RedisLink;
  readonly #directory: Pick<Directory, "write">;

  constructor(link: RedisLink, directory: Pick<Directory, "write">) {
    this.#link = link;
    this.#directory = directory;
  }

  async find(name: string): Promise<string | undefined> {
    const value = await this.#link.send(NAMES.settings, "HGET", NAMES.settings, name);
    return (value as string | null) ?? undefined;
  }

  async save(name: string, value: string): Promise<void> {
    await this.#link.send(NAMES.settings, "HSET", NAMES.settings, name, value);
  }

  async saveAudited(name: string, value: string, target: string, note: AuditNote): Promise<void> {
    const steps = [["HSET", NAMES.settings, name, value]] as const;
    await this.#directory.write({ steps, changed: [], audit: { target, note } });
  }

  async saveIfAbsent(name: string, value: string): Promise<string> {
    await this.#link.send(NAMES.settings, "HSETNX", NAMES.settings, name, value);
    return (await this.find(name)) ?? value;
  }

  /** Fails at the start, not at the first read of a server, when this instance has another secret than the others. */
  async checkSecret(sealer: Sealer): Promise<void> {
    const stored = await this.saveIfAbsent(SECRET_CHECK, sealSecretCheck(sealer));
    if (isRightSecret(stored, sealer)) return;
    throw new StartRefused(
      "GATEHOUSE_SECRET is not the one that this Redis was first used with; all instances need the same — " +
        "set it on each of them",
    );
  }
}
