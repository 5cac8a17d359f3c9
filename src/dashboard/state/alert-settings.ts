// Whether the user wants a sound and a notification for new calls; both are off at first.
import { StoredSetting, useStoredSetting } from "./stored-setting.ts";

export type AlertSettings = { readonly sound: boolean; readonly notification: boolean };

const OFF: AlertSettings = { sound: false, notification: false };

const setting = new StoredSetting<AlertSettings>({
  name: "gatehouse.alerts",
  parse: parseAlertSettings,
  write: (settings) => JSON.stringify(settings),
});

export function getAlertSettings(): AlertSettings {
  return setting.get();
}

export function areAlertsOn(): boolean {
  const { sound, notification } = setting.get();
  return sound || notification;
}

export function changeAlertSettings(change: Partial<AlertSettings>): void {
  setting.change((settings) => ({ ...settings, ...change }));
}

export function useAlertSettings(): AlertSettings {
  return useStoredSetting(setting);
}

/** `text` may be anything: another page of this host, or the user, may have written it. */
export function parseAlertSettings(text: string | null): AlertSettings {
  try {
    const stored = JSON.parse(text ?? "null") as Partial<Record<keyof AlertSettings, unknown>> | null;
    return { sound: stored?.sound === true, notification: stored?.notification === true };
  } catch {
    return OFF;
  }
}
