// What the questions about the history take from the memory of a server.
import { type MemoryPart, parseMemory } from "../core/events/memory-text.ts";
import type { OpenHistory, StaffFacts } from "../core/ports/history.ts";

export const OPEN_PARTS: readonly string[] = ["state", "counts", "sessions"];
export const STAFF_PARTS: readonly string[] = ["staff"];

export function toOpenHistory(parts: readonly MemoryPart[]): OpenHistory {
  const { counts, sessions, playersShownAt } = parseMemory(parts);
  return { counts, sessions, seenAt: playersShownAt };
}

export function toListedStaff(parts: readonly MemoryPart[]): StaffFacts["listed"] {
  const { staff } = parseMemory(parts);
  return new Map(Object.values(staff ?? {}).flatMap((members) => [...members]));
}
