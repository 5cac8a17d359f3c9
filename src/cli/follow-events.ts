// gatehouse events --follow: reads the stream of one server, and connects again from its cursor when the stream ends.
import { CONTROL_MESSAGES } from "../../packages/client/src/event-stream.ts";
import type { SseMessage } from "../../packages/client/src/sse-parser.ts";
import { ERRORS } from "../core/errors.ts";
import type { EventResource } from "../core/wire/event.ts";
import { CommandFailed, EXIT_CODES } from "./exit-codes.ts";

/** Waits before the next connection. Each failure in a row uses the next, the last repeats. */
export const BACKOFF_MS = [250, 500, 1_000, 2_000, 4_000];

export type FollowParts = {
  /** Opens the stream after a cursor. Throws CommandFailed when it is refused or breaks. */
  readonly open: (after: string, signal: AbortSignal) => AsyncIterable<SseMessage>;
  readonly parse: (text: string) => EventResource;
  readonly show: (event: EventResource) => void | Promise<void>;
  /** Ends early when the signal does. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Called once for each outage. */
  readonly onOutage: () => void;
};

/** Shows each event after the cursor once, until the signal is aborted. Throws when coming back cannot help. */
export async function followEvents(parts: FollowParts, after: string, signal: AbortSignal): Promise<void> {
  const { open, parse, show, pause, onOutage } = parts;
  let place = after;
  let isAway = false;
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      for await (const { id, event, data } of open(place, signal)) {
        if (signal.aborted) return;
        if (event === "bye") checkBye(data);
        if (!CONTROL_MESSAGES.has(event)) await show(parse(data));
        // After it was shown: what was not shown comes again.
        if (id !== "") place = id;
        failures = 0;
        isAway = false;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof CommandFailed) || !isTemporary(error)) throw error;
      if (!isAway) onOutage();
      isAway = true;
    }
    await pause(BACKOFF_MS[Math.min(failures, BACKOFF_MS.length - 1)] ?? 0, signal);
  }
}

function isTemporary({ exitCode, error }: CommandFailed): boolean {
  return exitCode === EXIT_CODES.unavailable || error?.code === ERRORS.tooManyStreams.code;
}

/** The stream of a deleted server ends for good; after any other end it can be opened again, or is refused with a reason. */
function checkBye(data: string): void {
  const { code } = JSON.parse(data) as { readonly code?: number };
  if (code === ERRORS.notFound.code) throw new CommandFailed("the server was deleted", EXIT_CODES.notFound);
}
