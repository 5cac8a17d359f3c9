// Named values, and the check that the database was created with the current secret.
import { StartRefused } from "../../core/errors.ts";
import type { Log } from "../../core/ports/log.ts";
import type { SettingStore } from "../../core/ports/store.ts";
import { isRightSecret, SECRET_CHECK, type Sealer, sealSecretCheck } from "../sealer.ts";
import type { Driver, Sql } from "../sql.ts";
import type { Changes } from "./changes.ts";

/** Among the ids of changes: a setting that other instances follow. */
export const AMENDED_SETTING = "setting";

export class SettingsTable implements SettingStore {
  constructor(
    private readonly driver: Driver,
    private readonly changes: Changes,
  ) {}

  find(name: string): Promise<string | undefined> {
    return this.driver.query((sql) => findSetting(sql, name));
  }

  save(name: string, value: string): Promise<void> {
    return this.driver.transact((sql) => saveSetting(sql, name, value));
  }

  async amend(name: string, change: (value: string | undefined) => string | undefined): Promise<void> {
    await this.changes.make([AMENDED_SETTING], async (sql) => {
      const value = change(await findSetting(sql, name));
      if (value === undefined) return undefined;
      await saveSetting(sql, name, value);
      return true;
    });
  }

  saveIfAbsent(name: string, value: string): Promise<string> {
    return this.driver.transact(async (sql) => {
      const insert = "INSERT INTO settings (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO NOTHING";
      await sql.run(insert, name, value);
      return (await findSetting(sql, name)) ?? value;
    });
  }

  /** Throws StartRefused when the database was created with another secret. */
  async checkSecret(sealer: Sealer): Promise<void> {
    const stored = await this.saveIfAbsent(SECRET_CHECK, sealSecretCheck(sealer));
    if (isRightSecret(stored, sealer)) return;
    throw new StartRefused(
      "GATEHOUSE_SECRET (or secret.key in the data folder) is not the one this database was made with; " +
        "the stored server keys cannot be read — put the old secret back",
    );
  }
}

export async function findSetting(sql: Sql, name: string): Promise<string | undefined> {
  return (await sql.get<{ value: string }>("SELECT value FROM settings WHERE name = ?1", name))?.value;
}

export async function saveSetting(sql: Sql, name: string, value: string): Promise<void> {
  await sql.run(
    "INSERT INTO settings (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
    ...[name, value],
  );
}

/** How many devices and links of keys a migration has ended, since when nobody was told. */
const ENDED_DEVICES = "ended-devices";

/** Tells once that the devices and links of keys are gone. */
export async function tellEndedDevices(settings: SettingStore, log: Log): Promise<void> {
  const devices = Number((await settings.find(ENDED_DEVICES)) ?? 0);
  if (devices === 0) return;
  log.warn(
    { devices },
    "browsers that were remembered with a key, and links of keys, have ended: people take their place",
  );
  await settings.save(ENDED_DEVICES, "0");
}

/** Marks a database while a migration writes to it, so that no instance starts on half of the data. */
export const MIGRATION = "migration";
export const UNFINISHED = "unfinished";

export async function refuseUnfinished(settings: Pick<SettingStore, "find">): Promise<void> {
  if ((await settings.find(MIGRATION)) === UNFINISHED)
    throw new StartRefused(
      "a migration into this database was not finished, so data is missing — run the same gatehouse migrate again, which goes on where it ended",
    );
}
