// The marks "seen by me" of this browser: kept in localStorage, and shared by its tabs.
import { useSyncExternalStore } from "react";
import {
  changeSeenCalls,
  parseSeenCalls,
  type SeenCalls,
  type SeenMarks,
  writeSeenCalls,
} from "./seen-calls.ts";

/** The marks are no secret, so they are stored for longer than the tab. */
const STORAGE_KEY = "gatehouse.seen-calls";
const NO_MARKS: SeenMarks = new Map();

const listeners = new Set<() => void>();
let isStorable = true;
let seen = readStored();

/** The same object until the marks of a server change. */
export function getSeenMarks(serverId: string): SeenMarks {
  return seen.get(serverId) ?? NO_MARKS;
}

/** Marks calls of a server as seen, or removes their marks. */
export function setSeen(serverId: string, keys: readonly string[], isSeen: boolean): void {
  // Another tab may have changed the marks since this one read them.
  const latest = isStorable ? readStored() : seen;
  seen = changeSeenCalls(latest, { serverId, keys, isSeen }, Date.now());
  try {
    localStorage.setItem(STORAGE_KEY, writeSeenCalls(seen));
  } catch {
    // The storage is forbidden or full; the marks then last until the page is closed.
    isStorable = false;
  }
  for (const listener of listeners) listener();
}

export function useSeenMarks(serverId: string): SeenMarks {
  return useSyncExternalStore(subscribe, () => getSeenMarks(serverId));
}

function readStored(): SeenCalls {
  try {
    return parseSeenCalls(localStorage.getItem(STORAGE_KEY), Date.now());
  } catch {
    isStorable = false;
    return new Map();
  }
}

function subscribe(listener: () => void): () => void {
  const takeOver = ({ key }: StorageEvent) => {
    // The key is null when everything was deleted.
    if (key !== STORAGE_KEY && key !== null) return;
    seen = readStored();
    listener();
  };
  listeners.add(listener);
  addEventListener("storage", takeOver);
  return () => {
    listeners.delete(listener);
    removeEventListener("storage", takeOver);
  };
}
