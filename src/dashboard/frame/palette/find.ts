// The rules of the box that finds players, views, calls and servers: what fits the typed text, and in which order. Pure.
import type { PlayerResource } from "../../../core/wire/players.ts";
import { isPlayerId, parsePlayerRef } from "../../player-ref.ts";

export type FoundPlayer = { readonly id: string; readonly name: string; readonly isHere: boolean };

/** How many players are offered. */
export const PLAYERS_MAX = 8;

/** The players on the server first, then the others that Gatehouse remembers. */
export function joinPlayers(
  here: readonly { readonly Player?: string }[],
  known: readonly PlayerResource[],
  typed: string,
): readonly FoundPlayer[] {
  const wanted = simplify(typed);
  if (wanted === "") return [];
  const found = new Map<string, FoundPlayer>();
  for (const { Player } of here) {
    const { name, id } = parsePlayerRef(Player);
    if (id === undefined || !isPlayerId(id)) continue;
    if (simplify(name).includes(wanted) || id.startsWith(wanted)) found.set(id, { id, name, isHere: true });
  }
  for (const { id, names, is_here: isHere } of known.toSorted((a, b) => Number(b.is_here) - Number(a.is_here))) {
    if (!found.has(id)) found.set(id, { id, name: names[0] ?? "", isHere });
  }
  return Array.from(found.values()).slice(0, PLAYERS_MAX);
}

/** Whether one of the words begins with the typed text. */
export function fitsTitle(title: string, typed: string): boolean {
  const wanted = simplify(typed);
  return simplify(title)
    .split(/\s+/)
    .some((_, index, words) => words.slice(index).join(" ").startsWith(wanted));
}

export function simplify(text: string): string {
  return text.trim().toLowerCase();
}
