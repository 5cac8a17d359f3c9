// Whether the keys of the page work. Kept in this browser, for every key; they work at first. People whose speech input or
// assistive technology sends single letters switch them off.
import { useSyncExternalStore } from "react";

/** The choice is no secret, so it is stored for longer than the tab. */
const STORAGE_KEY = "gatehouse.keyboard";
const OFF = "off";

const listeners = new Set<() => void>();
let isOn = readStored();

export function useKeysOn(): boolean {
  return useSyncExternalStore(subscribe, () => isOn);
}

export function switchKeys(wanted: boolean): void {
  isOn = wanted;
  try {
    if (wanted) localStorage.removeItem(STORAGE_KEY);
    else localStorage.setItem(STORAGE_KEY, OFF);
  } catch {
    // The browser forbids storage; the choice then lasts until the page is closed.
  }
  for (const listener of listeners) listener();
}

function readStored(): boolean {
  try {
    return localStorage.getItem(STORAGE_KEY) !== OFF;
  } catch {
    return true;
  }
}

function subscribe(listener: () => void): () => void {
  // Another tab may switch the keys.
  const takeOver = ({ key }: StorageEvent) => {
    if (key !== STORAGE_KEY) return;
    isOn = readStored();
    listener();
  };
  listeners.add(listener);
  addEventListener("storage", takeOver);
  return () => {
    listeners.delete(listener);
    removeEventListener("storage", takeOver);
  };
}
