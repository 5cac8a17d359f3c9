// The marks "seen by me" of this browser.
import { useSyncExternalStore } from "react";
import {
  changeSeenCalls,
  parseSeenCalls,
  type SeenCalls,
  type SeenMarks,
  writeSeenCalls,
} from "./seen-calls.ts";
import { StoredSetting } from "./stored-setting.ts";

const NO_MARKS: SeenMarks = new Map();

const setting = new StoredSetting<SeenCalls>({
  name: "gatehouse.seen-calls",
  parse: (text) => parseSeenCalls(text, Date.now()),
  write: writeSeenCalls,
});

/** The same object until the marks of a server change. */
export function getSeenMarks(serverId: string): SeenMarks {
  return setting.get().get(serverId) ?? NO_MARKS;
}

/** Marks calls of a server as seen, or removes their marks. */
export function setSeen(serverId: string, keys: readonly string[], isSeen: boolean): void {
  setting.change((seen) => changeSeenCalls(seen, { serverId, keys, isSeen }, Date.now()));
}

export function useSeenMarks(serverId: string): SeenMarks {
  return useSyncExternalStore(setting.subscribe, () => getSeenMarks(serverId));
}
