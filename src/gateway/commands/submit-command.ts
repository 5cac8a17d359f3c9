// Takes a command on: accepted means that it is on disk.
import { ERRORS, type Refusal, refuse } from "../../core/errors.ts";
import type { CommandDraft, CommandQueue, Receipt } from "../../core/ports/commands.ts";
import type { ErrorFields } from "../../core/wire/error.ts";

const IN_FLIGHT = refuse(ERRORS.idempotencyInFlight);
const MISMATCH = refuse(ERRORS.idempotencyMismatch);

export type SubmitCommand = (draft: CommandDraft, now: number) => Promise<Receipt | Refusal>;

export function createSubmitCommand(parts: {
  readonly commands: Pick<CommandQueue, "accept">;
  /** How long the queue needs to get shorter by one. */
  readonly intervalMs: number;
  /** Told after a command was accepted. */
  readonly notify: (serverId: string) => void;
}): SubmitCommand {
  const { commands, intervalMs, notify } = parts;
  const retryAfter = Math.max(1, Math.ceil(intervalMs / 1000));
  const fields: ErrorFields["queueFull"] = { retry_after: retryAfter };
  const full = refuse(ERRORS.queueFull, fields, { "Retry-After": String(retryAfter) });
  /** One entry for each request that waits for the disk. */
  const inFlight = new Set<string>();

  return async (draft, now) => {
    const { keyId, serverId, idempotencyKey } = draft;
    const mark = idempotencyKey === undefined ? undefined : `${keyId} ${idempotencyKey}`;
    if (mark !== undefined && inFlight.has(mark)) return IN_FLIGHT;
    if (mark !== undefined) inFlight.add(mark);
    try {
      const acceptance = await commands.accept(draft, now);
      if ("declined" in acceptance) return acceptance.declined === "full" ? full : MISMATCH;
      notify(serverId);
      return acceptance.receipt;
    } finally {
      if (mark !== undefined) inFlight.delete(mark);
    }
  };
}
