// What the game would tell by webhook of one town: custom commands that players typed, and emergency calls that began or ended.
import { buildEmergency } from "./build-server-info.ts";
import type { Quirks } from "./quirks.ts";
import { hashOf, Random } from "./random.ts";
import { type EmergencyCall, type HookCollector, type HookEvent, listPlayers, type Town, timestampOf } from "./town.ts";

/** Beyond this many that nobody has taken, the oldest are dropped. */
export const HOOK_EVENTS_MAX = 200;
/** Probability per second. */
const COMMAND_CHANCE = 1 / 30;

const COMMANDS: readonly (readonly [command: string, argument: string])[] = [
  ["logging", "Patrol log, unit 12 is on duty."],
  ["bolo", "White sedan, last seen on the highway"],
  ["panic", ""],
  ["tow", "Two vehicles at the bridge"],
  ["shift", "start"],
  ["shift", "end"],
  ["report", "Somebody drives through the hospital"],
  ["rules", ""],
];

export class TownHooks implements HookCollector {
  readonly #quirks: Quirks;
  /** The calls that are open and known. */
  readonly #open: Set<EmergencyCall>;
  #events: HookEvent[] = [];

  /** The calls that are open now are not told. */
  constructor(town: Town, quirks: Quirks) {
    this.#quirks = quirks;
    this.#open = new Set(town.emergencies);
  }

  collect(town: Town): void {
    for (const call of town.emergencies) {
      if (this.#open.has(call)) continue;
      this.#open.add(call);
      this.#add(this.#describeCall(town, call, "EmergencyCallStarted"));
    }
    for (const call of this.#open) {
      if (town.emergencies.includes(call)) continue;
      this.#open.delete(call);
      this.#add(this.#describeCall(town, call, "EmergencyCallEnded"));
    }
    this.#typeCommand(town);
  }

  take(): HookEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  /** Uses its own random numbers, so that the rest of the town stays as its seed made it. */
  #typeCommand(town: Town): void {
    const random = new Random(hashOf("custom command", town.seed, town.second));
    if (!random.chance(COMMAND_CHANCE)) return;
    const player = random.find(listPlayers(town));
    const [command, argument] = random.pick(COMMANDS);
    if (!player) return;
    const origin = String(player.profile.id);
    this.#add({ event: "CustomCommand", timestamp: timestampOf(town), origin, data: { command, argument } });
  }

  #describeCall(town: Town, call: EmergencyCall, event: string): HookEvent {
    const shown = buildEmergency({ town, quirks: this.#quirks }, call);
    const isForAll = this.#quirks.affects("webhookTeamAll", 6, town.seed, call.number);
    const data = {
      players: [...call.responderIds],
      caller: shown.Caller,
      description: shown.Description,
      callNumber: shown.CallNumber,
      team: isForAll ? "ALL" : shown.Team,
      position: shown.Position,
      positionDescriptor: shown.PositionDescriptor,
      startedAt: shown.StartedAt,
    };
    return { event, timestamp: timestampOf(town), origin: "server", data };
  }

  #add(event: HookEvent): void {
    this.#events.push(event);
    if (this.#events.length > HOOK_EVENTS_MAX) this.#events.shift();
  }
}
