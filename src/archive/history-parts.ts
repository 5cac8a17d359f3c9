// What the questions about the history take from the memory of a server.
import { type MemoryPart, parseMemory } from "../core/events/memory-text.ts";
import type { OpenHistory, StaffFacts } from "../core/ports/history.ts";

export const OPEN_PARTS: readonly string[] = ["counts", "sessions"];
export const STAFF_PARTS: readonly string[] = ["staff"];

export function toOpenHistory(parts: readonly MemoryPart[]): OpenHistory {
  const { counts, sessions } = parseMemory(parts);
  return { counts, sessions, seenAt: counts.last?.at ?? null };
}

export function toListedStaff(parts: readonly MemoryPart[]): StaffFacts["listed"] {
  const { staff } = parseMemory(parts);
  return new Map(Object.values(staff ?? {}).flatMap((members) => [...members]));
}
