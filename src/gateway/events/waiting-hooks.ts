// The game's webhooks that are taken and not recorded yet. Whoever sent one is answered when it is recorded.
import { ArchiveUnavailable } from "../../core/errors.ts";
import type { HookOutcome } from "./recorder.ts";
import type { HookInput } from "./server-ledger.ts";

/** More webhooks are not taken before those are recorded. */
export const WAITING_HOOKS_MAX = 1_000;

type WaitingHook = {
  readonly serverId: string;
  readonly resolve: (outcome: HookOutcome) => void;
  readonly reject: (error: unknown) => void;
  isRepeated: boolean;
};

export class WaitingHooks {
  readonly #waiting = new Map<HookInput, WaitingHook>();

  /** Resolves when the webhook is recorded. Throws when too many wait. */
  add(serverId: string, input: HookInput): Promise<HookOutcome> {
    if (this.#waiting.size >= WAITING_HOOKS_MAX) throw new ArchiveUnavailable("too many webhooks wait");
    const { promise, resolve, reject } = Promise.withResolvers<HookOutcome>();
    this.#waiting.set(input, { serverId, resolve, reject, isRepeated: false });
    return promise;
  }

  noteRepeated(input: HookInput): void {
    const waiting = this.#waiting.get(input);
    if (waiting) waiting.isRepeated = true;
  }

  settle(recorded: Iterable<HookInput>): void {
    for (const input of recorded) {
      const waiting = this.#waiting.get(input);
      this.#waiting.delete(input);
      waiting?.resolve({ isRepeated: waiting.isRepeated });
    }
  }

  fail(input: HookInput, error: unknown): void {
    this.#waiting.get(input)?.reject(error);
    this.#waiting.delete(input);
  }

  failServer(serverId: string, error: unknown): void {
    for (const [input, waiting] of this.#waiting) if (waiting.serverId === serverId) this.fail(input, error);
  }

  failAll(error: unknown): void {
    for (const input of this.#waiting.keys()) this.fail(input, error);
  }
}
