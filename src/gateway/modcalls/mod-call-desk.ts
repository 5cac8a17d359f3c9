// Calls for a moderator for those who answer them: lists with where the callers are now, and claims that every reader of events
// hears of.
import { playerIdOf } from "../../core/events/elements.ts";
import { parseExactJson } from "../../core/exact-json.ts";
import type { GameServer } from "../../core/game-server.ts";
import {
  type ClaimRequest,
  compareCalls,
  EXPIRED_AFTER_MS,
  OPEN_STATES,
  type PlacedCall,
  stateOfCall,
} from "../../core/modcalls/mod-calls.ts";
import type { ModCallState } from "../../core/players/vocabulary.ts";
import type { ClaimOutcome, ModCallStore } from "../../core/ports/players.ts";
import { SECTIONS } from "../../core/sections.ts";
import type { ModCallResource } from "../../core/wire/players.ts";
import type { Relay } from "../readings/relay.ts";
import type { Watcher } from "../readings/watcher.ts";

const PLAYERS = SECTIONS.indexOf("Players");

export type ModCallDeskDeps = {
  readonly archive: ModCallStore;
  readonly relay: Pick<Relay, "findSnapshot">;
  readonly watcher: Pick<Watcher, "catchUpOn">;
  /** Called when events were recorded. */
  readonly onRecorded: (serverId: string) => void;
};

export type Position = ModCallResource["position"];

export class ModCallDesk {
  constructor(private readonly deps: ModCallDeskDeps) {}

  /** All calls in these states, in their order. */
  async list(serverId: string, states: readonly ModCallState[], now: number): Promise<PlacedCall[]> {
    const areOpen = states.every((state) => OPEN_STATES.includes(state));
    const calls = await this.deps.archive.listModCalls(serverId, areOpen ? now - EXPIRED_AFTER_MS : 0, now);
    return calls.filter((call) => states.includes(stateOfCall(call, now))).sort(compareCalls);
  }

  async change(serverId: string, callId: string, request: ClaimRequest): Promise<ClaimOutcome | undefined> {
    const outcome = await this.deps.archive.changeClaim(serverId, callId, request);
    if (outcome && !outcome.refused) this.deps.onRecorded(serverId);
    return outcome;
  }

  /** Where the players are, by id, as the newest reading shows it. Makes no call to the game API. */
  async findPositions(server: GameServer): Promise<ReadonlyMap<string, Position>> {
    const { relay, watcher } = this.deps;
    // Another instance may be the one that watches.
    await watcher.catchUpOn(server);
    const text = relay.findSnapshot(server)?.parts.sections[PLAYERS];
    const players = text === undefined ? [] : (parseExactJson(text) as readonly Record<string, unknown>[]);
    const positions = new Map<string, Position>();
    for (const { Player, Location } of players) {
      const id = playerIdOf(Player);
      if (id !== undefined && typeof Location === "object") positions.set(id, Location as Position);
    }
    return positions;
  }
}
