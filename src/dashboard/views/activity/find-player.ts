// Finds the player that the user means: by id, or by the name of a player that the page knows.
import type { EventResource } from "../../../core/wire/event.ts";
import { isPlayerId } from "../../player-ref.ts";
import { listPlayers } from "./describe-event.ts";

export type KnownPlayer = { readonly id: string; readonly name: string };

const CANDIDATES_MAX = 8;

/** The players that the events name, each with the newest of their names. `events` are newest first. */
export function listKnownPlayers(events: readonly EventResource[]): readonly KnownPlayer[] {
  const names = new Map<string, string>();
  for (const { id, name } of events.flatMap(listPlayers)) {
    if (!names.get(id)) names.set(id, name);
  }
  return Array.from(names, ([id, name]) => ({ id, name }));
}

/** An id is always found, known or not; a name only among the known players, the best fitting ones first. */
export function findPlayers(typed: string, known: readonly KnownPlayer[]): readonly KnownPlayer[] {
  const text = typed.trim().toLowerCase();
  if (text === "") return [];
  const rank = ({ name }: KnownPlayer) => {
    const lower = name.toLowerCase();
    if (lower === text) return 0;
    return lower.startsWith(text) ? 1 : 2;
  };
  const named = known
    .filter(({ name }) => name.toLowerCase().includes(text))
    .sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
  if (!isPlayerId(text)) return named.slice(0, CANDIDATES_MAX);
  const byId = known.find(({ id }) => id === text) ?? { id: text, name: "" };
  return [byId, ...named.filter(({ id }) => id !== text)].slice(0, CANDIDATES_MAX);
}
