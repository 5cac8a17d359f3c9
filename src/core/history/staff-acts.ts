// What staff did: commands used in the game, and calls for a moderator that were answered. An entry that was there before the
// first reading counts when its time is known: a command has one, an answer has none. Commands that came through the game's
// API have no player's id.
import { timeOf } from "../events/elements.ts";
import type { NewEvent } from "../events/new-event.ts";
import type { NewStaffAct } from "./history.ts";
import { findPlayerId, nameOf } from "./shown-players.ts";

export function findStaffActs(events: readonly NewEvent[]): NewStaffAct[] {
  return events.flatMap((event) => {
    const act =
      event.type === "command.used"
        ? toCommandAct(event)
        : event.type === "modcall.answered"
          ? toAnswerAct(event)
          : undefined;
    return act ? [act] : [];
  });
}

function toCommandAct(event: NewEvent): NewStaffAct | undefined {
  const command = JSON.parse(event.data) as { Player?: unknown };
  if (event.isBackfill && timeOf(command, "Timestamp") === null) return undefined;
  return toAct(event, command.Player, null);
}

function toAnswerAct(event: NewEvent): NewStaffAct | undefined {
  if (event.isBackfill) return undefined;
  const call = JSON.parse(event.data) as { Moderator?: unknown };
  const calledAt = timeOf(call, "Timestamp");
  if (calledAt === null) return undefined;
  const meta = JSON.parse(event.meta ?? "{}") as { answered_between?: readonly [number, number] };
  const [since, until] = meta.answered_between ?? [calledAt, event.seenAt];
  // The game's clock may be ahead of ours.
  const low = Math.max(0, since - calledAt);
  return toAct(event, call.Moderator, [low, Math.max(low, until - calledAt)]);
}

function toAct(event: NewEvent, reference: unknown, waited: NewStaffAct["waited"]): NewStaffAct | undefined {
  const player = findPlayerId(reference);
  if (player === undefined) return undefined;
  const { at, identity } = event;
  return { player, name: nameOf(reference), at, waited, ...(identity === null ? {} : { identity }) };
}
