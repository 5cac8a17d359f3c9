// The last use of each signed-in device. It is kept apart from the key's record: every change of a record makes all instances
// read it again and drop what they have cached of the keys.
import type { DeviceDetails } from "../../core/ports/devices.ts";
import { NAMES } from "./names.ts";
import type { DeviceRecord } from "./records.ts";
import type { RedisLink } from "./redis-link.ts";

export async function withDeviceUses(
  link: RedisLink,
  devices: readonly DeviceRecord[],
): Promise<(DeviceRecord & Pick<DeviceDetails, "lastUsedAt">)[]> {
  if (devices.length === 0) return [];
  const ids = devices.map(({ deviceId }) => deviceId);
  const times = (await link.send(NAMES.deviceUses, "HMGET", NAMES.deviceUses, ...ids)) as (string | null)[];
  return devices.map((device, index) => {
    const time = times[index] ?? null;
    return { ...device, lastUsedAt: time === null ? null : Number(time) };
  });
}
