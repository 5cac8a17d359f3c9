// Whether the user wants a sound and a notification for new calls. Kept in this browser, for every key; both are off at first.
import { useSyncExternalStore } from "react";

export type AlertSettings = { readonly sound: boolean; readonly notification: boolean };

/** The settings are no secret, so they are stored for longer than the tab. */
const STORAGE_KEY = "gatehouse.alerts";
const OFF: AlertSettings = { sound: false, notification: false };

const listeners = new Set<() => void>();
let settings = readStored();

export function getAlertSettings(): AlertSettings {
  return settings;
}

export function areAlertsOn(): boolean {
  return settings.sound || settings.notification;
}

export function changeAlertSettings(change: Partial<AlertSettings>): void {
  settings = { ...settings, ...change };
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify(settings));
  } catch {
    // The browser forbids storage; the choice then lasts until the page is closed.
  }
  for (const listener of listeners) listener();
}

export function useAlertSettings(): AlertSettings {
  return useSyncExternalStore(subscribe, getAlertSettings);
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

function readStored(): AlertSettings {
  try {
    return parseAlertSettings(localStorage.getItem(STORAGE_KEY));
  } catch {
    return OFF;
  }
}

function subscribe(listener: () => void): () => void {
  // Another tab may change the settings.
  const takeOver = ({ key }: StorageEvent) => {
    if (key !== STORAGE_KEY) return;
    settings = readStored();
    listener();
  };
  listeners.add(listener);
  addEventListener("storage", takeOver);
  return () => {
    listeners.delete(listener);
    removeEventListener("storage", takeOver);
  };
}
