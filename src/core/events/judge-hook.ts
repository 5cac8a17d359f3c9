// What a webhook of the game says happened, judged from what is known of the server. Pure: the caller looks up the identities
// first, and writes the events together with the new memory.
import { NO_HISTORY } from "../history/history.ts";
import { breakOffSessions } from "../history/judge-history.ts";
import { isToldCall, type ToldCustom } from "./game-hook.ts";
import { judgeToldCall } from "./judge-calls.ts";
import { forgetServer, type Judgement, replacementGap } from "./judge-reading.ts";
import type { ServerMemory } from "./memory.ts";
import { makeEvent, type NewEvent, sortEvents } from "./new-event.ts";
import { type IdentifiedHook, isAnotherServer } from "./reading.ts";

/** `isRepeated`: the webhook was recorded before. */
export type JudgedHook = Judgement & { readonly isRepeated: boolean };

export function judgeHook(
  given: ServerMemory,
  { hook, generation, events: identified }: IdentifiedHook,
  isKnown: (identity: string) => boolean,
): JudgedHook {
  const { seenAt, gameServer } = hook;
  const isReplaced = isAnotherServer(given, hook);
  const events: NewEvent[] = isReplaced ? [replacementGap(given, { at: seenAt })] : [];
  let memory: ServerMemory = { ...(isReplaced ? forgetServer(given, generation) : given), gameServer };
  let isRepeated = false;
  for (const { told, identity, end } of identified) {
    if (isToldCall(told)) {
      const judged = judgeToldCall(told, { opening: identity, end }, seenAt, memory, isKnown);
      events.push(...judged.events);
      const { calls, closedCalls } = judged.memory;
      memory = { ...memory, calls, closedCalls };
    } else if (isKnown(identity)) isRepeated = true;
    else events.push(toCustomEvent(told, seenAt, identity));
  }
  const isChanged = events.length > 0 || memory.gameServer !== given.gameServer;
  const history = isReplaced ? breakOffSessions(given).history : NO_HISTORY;
  return { events: sortEvents(events), memory: isChanged ? memory : given, history, isRepeated };
}

function toCustomEvent({ type, at, data, players }: ToldCustom, seenAt: number, identity: string): NewEvent {
  return makeEvent({ type, at: at ?? seenAt, seenAt, source: "webhook", data, identity, players });
}
