// Decides when the command dispatcher may call the game API, and applies the results of commands to the statuses that reads
// use.
import { type GameServer, isParked } from "../../core/game-server.ts";
import type { Delivery, UpstreamFailure } from "../../core/ports/upstream.ts";
import { CLOSED_BREAKER, isCallDue, isOpen } from "../../core/readings/breaker.ts";
import type { CommandCallState } from "../commands/command-dispatcher.ts";
import type { BudgetKeeper } from "./budget-keeper.ts";
import type { OtherInstances } from "./other-instances.ts";
import type { ServerStatuses } from "./server-statuses.ts";

/** While the probe of an open breaker is under way, commands check again after this time. */
const PROBE_RECHECK_MS = 250;
/** How often the commands of a parked server check whether its key was set for the upstream in use. */
const PARKED_RECHECK_MS = 5_000;

export class UpstreamCallState implements CommandCallState {
  constructor(
    private readonly statuses: ServerStatuses,
    private readonly keeper: BudgetKeeper,
    private readonly others: OtherInstances | undefined,
    private readonly isSimulator: boolean,
    readonly probe: CommandCallState["probe"],
  ) {}

  findRefusedKey(server: GameServer, now: number): UpstreamFailure | undefined {
    // A parked server's commands wait: its key was not refused, it belongs to another upstream.
    return isParked(server, this.isSimulator) ? undefined : this.statuses.findRefusedKey(server, now);
  }

  msUntilCommand(server: GameServer, now: number): number {
    if (isParked(server, this.isSimulator)) return PARKED_RECHECK_MS;
    const pauseMs = this.keeper.msPaused(now);
    if (pauseMs > 0) return pauseMs;
    const { breaker } = this.statuses.of(server, now);
    if (!isOpen(breaker)) return 0;
    return isCallDue(breaker, now) ? PROBE_RECHECK_MS : breaker.openUntil - now;
  }

  async catchUpOn(server: GameServer, now: number): Promise<void> {
    // A reading of an instance with the other upstream would be served to callers while it is fresh.
    if (isParked(server, this.isSimulator)) return;
    if (this.others) await this.others.catchUpOn(this.statuses.of(server, now));
  }

  markSending(server: GameServer, now: number): void {
    const status = this.statuses.of(server, now);
    // The result of a command with an old key does not apply to the new key.
    if (status.keyRevision === server.keyRevision) status.isSendingCommand = true;
  }

  applyDelivery(server: GameServer, delivery: Delivery, now: number): void {
    const status = this.statuses.find(server.serverId);
    // The server was deleted meanwhile or has a new key.
    if (!status || status.keyRevision > server.keyRevision) return;
    status.isSendingCommand = false;
    status.lastUsedAt = now;
    const { breaker, remembered } = status;
    if (delivery.outcome === "done") status.breaker = CLOSED_BREAKER;
    else if (!delivery.failure.isRateLimit) this.statuses.learnFailure(status, delivery.failure, now);
    const isChanged = !Bun.deepEquals(status.breaker, breaker) || status.remembered !== remembered;
    if (isChanged) this.others?.publishStatus(status);
  }
}
