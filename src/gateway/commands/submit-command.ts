// Accepts commands: an accepted command is on disk.
import { ERRORS, type Refusal, refuse, refuseFor } from "../../core/errors.ts";
import type { CommandDraft, CommandQueue, Receipt } from "../../core/ports/commands.ts";

const IN_FLIGHT = refuse(ERRORS.idempotencyInFlight);
const MISMATCH = refuse(ERRORS.idempotencyMismatch);

export type CommandSubmitterDeps = {
  readonly commands: Pick<CommandQueue, "accept">;
  /** How long the queue needs to get shorter by one. */
  readonly intervalMs: number;
  /** The refusal for a server that was made for another upstream; undefined for other servers. */
  readonly findParkedRefusal: (serverId: string) => Refusal | undefined;
  /** Called after a command was accepted. */
  readonly notify: (serverId: string) => void;
};

export class CommandSubmitter {
  readonly #full: Refusal;
  /** One entry for each request that waits for the disk. */
  readonly #inFlight = new Set<string>();

  constructor(private readonly deps: CommandSubmitterDeps) {
    this.#full = refuseFor(ERRORS.queueFull, Math.max(1, Math.ceil(deps.intervalMs / 1000)));
  }

  /** `known` is why a new command would fail now: then it is refused with that, and not queued. */
  async submit(draft: CommandDraft, now: number, known?: Refusal): Promise<Receipt | Refusal> {
    const { commands, notify, findParkedRefusal } = this.deps;
    const { keyId, serverId, idempotencyKey, joinsSame } = draft;
    const refusal = findParkedRefusal(serverId) ?? known;
    if (refusal && idempotencyKey === undefined && !joinsSame) return refusal;
    const mark = idempotencyKey === undefined ? undefined : `${keyId} ${idempotencyKey}`;
    if (mark !== undefined && this.#inFlight.has(mark)) return IN_FLIGHT;
    if (mark !== undefined) this.#inFlight.add(mark);
    try {
      // A repeated request gets its receipt all the same: its command was accepted, and may be sent later or has been sent.
      const acceptance = await (refusal ? commands.accept(draft, now, 0) : commands.accept(draft, now));
      if ("declined" in acceptance) return acceptance.declined === "full" ? (refusal ?? this.#full) : MISMATCH;
      notify(serverId);
      return acceptance.receipt;
    } finally {
      if (mark !== undefined) this.#inFlight.delete(mark);
    }
  }
}
