// Finds where the caller of a call is. Pure.
import type { ModCall, Player } from "../../../core/wire/server-info.ts";
import { parsePlayerRef } from "../../player-ref.ts";

/** `away`: the caller is not on the server. `unknown`: the game does not say where they are. */
export type CallerPlace =
  | { readonly kind: "away" | "unknown" }
  | { readonly kind: "place"; readonly text: string };

export function findCallerPlace(
  { Caller }: ModCall,
  players: readonly Pick<Player, "Player" | "Location">[],
): CallerPlace {
  const caller = parsePlayerRef(Caller);
  const player = players.find(({ Player: text }) => {
    const { id, name } = parsePlayerRef(text);
    return caller.id === undefined ? name === caller.name : id === caller.id;
  });
  if (!player) return { kind: "away" };
  const { BuildingNumber, StreetName, PostalCode, LocationX: x, LocationZ: z } = player.Location ?? {};
  const street = [BuildingNumber, StreetName].filter(Boolean).join(" ");
  const text = [PostalCode, street].filter(Boolean).join(" · ");
  if (text !== "") return { kind: "place", text };
  const isPlaced = typeof x === "number" && typeof z === "number";
  return isPlaced ? { kind: "place", text: `(${Math.round(x)}, ${Math.round(z)})` } : { kind: "unknown" };
}
