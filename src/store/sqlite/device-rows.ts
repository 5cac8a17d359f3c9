// What ends the rows of devices and links, beside the device itself. Every function must run inside a transaction.
import type { Database } from "bun:sqlite";

export function endDevicesOf(db: Database, keyId: string): void {
  db.query("DELETE FROM devices WHERE key_id = ?").run(keyId);
  db.query("DELETE FROM links WHERE key_id = ?").run(keyId);
}

/** After a rotation: the devices end with the old token, the links at once. */
export function limitDevicesOf(db: Database, keyId: string, validUntil: number, now: number): void {
  db.query("DELETE FROM links WHERE key_id = ?").run(keyId);
  db.query("UPDATE devices SET expires_at = ?1 WHERE key_id = ?2 AND expires_at > ?1").run(validUntil, keyId);
  db.query("DELETE FROM devices WHERE key_id = ? AND expires_at <= ?").run(keyId, now);
}

export function deleteExpiredDevices(db: Database, now: number): void {
  db.query("DELETE FROM devices WHERE expires_at <= ?").run(now);
  db.query("DELETE FROM links WHERE expires_at <= ?").run(now);
}

/** For a restore: what was ended after the backup must not come back. A database of an older version has no devices. */
export function endAllDevices(db: Database): void {
  const hasDevices = db.query("SELECT 1 FROM sqlite_schema WHERE name = 'devices'").get() !== null;
  if (hasDevices) db.exec("DELETE FROM devices; DELETE FROM links");
}
