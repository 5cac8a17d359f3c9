// The rules for calls for a moderator: which are shown and counted, and what stands in for Gatehouse's list where there is none.
// Pure.
import { HOUR_MS } from "../../../core/durations.ts";
import type { EventResource } from "../../../core/wire/event.ts";
import type { ModCallResource } from "../../../core/wire/players.ts";
import type { ModCall, Player } from "../../../core/wire/server-info.ts";
import { parsePlayerRef } from "../../player-ref.ts";

/** A call that nobody has answered for so long is over. */
export const CALL_AGE_MAX_MS = HOUR_MS;

export type CallGroups = {
  /** Somebody should go to these, or goes. Callers who are on the server come first, then the oldest call. */
  readonly open: readonly ModCallResource[];
  /** Their callers have left the server. */
  readonly left: readonly ModCallResource[];
  /** How many wait, are nobody's, and have their caller on the server: the one number of the whole page. */
  readonly waiting: number;
  /** The id of the newest call that is counted. */
  readonly newest: string | undefined;
};

/** After how long a call was answered: not before `fromMs`, and at `toMs` at the latest. */
export type AnswerBounds = { readonly fromMs: number; readonly toMs: number };

export type AnsweredCall = {
  readonly id: string;
  readonly call: ModCall;
  readonly bounds: AnswerBounds | undefined;
};

/** The largest number of seconds that a Date can hold. */
const SECONDS_MAX = 8.64e12;

/** `calls` are in the order of Gatehouse, which is kept. */
export function groupCalls(calls: readonly ModCallResource[], now: number): CallGroups {
  const recent = calls.filter(({ opened_at }) => now - opened_at < CALL_AGE_MAX_MS);
  const open = recent.filter(({ state }) => state === "waiting" || state === "claimed");
  const counted = open.filter(({ state, is_here }) => state === "waiting" && is_here);
  const newest = counted.reduce<ModCallResource | undefined>(
    (best, call) => (best && best.opened_at > call.opened_at ? best : call),
    undefined,
  );
  return {
    open,
    left: recent.filter(({ state }) => state === "left"),
    waiting: counted.length,
    newest: newest?.id,
  };
}

/** The first calls, and always the newest: it is the last of a long list, and the one that the user has not seen. */
export function pickCalls({ open, newest }: CallGroups, max: number): readonly ModCallResource[] {
  if (open.length <= max) return open;
  const first = open.slice(0, max - 1);
  const call = open.find(({ id }) => id === newest);
  return [...first, call && !first.includes(call) ? call : (open[max - 1] as ModCallResource)];
}

/**
 * The calls of the game's own list as Gatehouse would list them: for operators and without an archive, where nobody can claim
 * one. `players` is undefined when the key may not read them; everybody then counts as being there.
 */
export function readGameList(
  listed: readonly ModCall[],
  players: readonly Pick<Player, "Player" | "Location">[] | undefined,
  now: number,
): readonly ModCallResource[] {
  const positions = new Map(players?.map(({ Player, Location }) => [parsePlayerRef(Player).id, Location ?? null]));
  return listed
    .filter(({ Moderator }) => !Moderator)
    .map((call): ModCallResource => {
      const { id } = parsePlayerRef(call.Caller);
      const isHere = players === undefined || (id !== undefined && positions.has(id));
      return {
        id: `${call.Timestamp ?? "?"} ${id}`,
        caller: call.Caller ?? "",
        opened_at: findCallTime(call) ?? now,
        state: isHere ? "waiting" : "left",
        is_here: isHere,
        position: positions.get(id) ?? null,
        answered_by: null,
        answered_at: null,
        claimed_by: null,
        claimed_at: null,
      };
    })
    .sort((a, b) => Number(b.is_here) - Number(a.is_here) || a.opened_at - b.opened_at);
}

/** When the player called, in epoch milliseconds; undefined when the game does not say it. */
function findCallTime({ Timestamp }: ModCall): number | undefined {
  const isTime = typeof Timestamp === "number" && Math.abs(Timestamp) <= SECONDS_MAX;
  return isTime ? Timestamp * 1000 : undefined;
}

/** Whether the list of calls may be another one after this event. */
export function isAboutCalls({ type }: Pick<EventResource, "type">): boolean {
  return type.startsWith("modcall.") || type === "player.joined" || type === "player.left";
}

/** The answered calls of the game's list, where there is no ledger. */
export function listAnsweredNow(listed: readonly ModCall[]): readonly AnsweredCall[] {
  return listed
    .filter(({ Moderator }) => Moderator)
    .map((call) => ({ id: `${call.Timestamp} ${call.Caller}`, call, bounds: undefined }));
}

/** The answered calls of a ledger. */
export function listAnswered(events: readonly EventResource[]): readonly AnsweredCall[] {
  return events
    .filter(({ type }) => type === "modcall.answered")
    .map(({ id, data, meta }) => {
      const call = toCall(data);
      return { id, call, bounds: findAnswerBounds(call, meta?.answered_between) };
    });
}

/** Fields of a wrong type are left out. */
function toCall({ Caller, Moderator, Timestamp }: EventResource["data"]): ModCall {
  return {
    ...(typeof Caller === "string" && { Caller }),
    ...(typeof Timestamp === "number" && { Timestamp }),
    Moderator: typeof Moderator === "string" ? Moderator : null,
  };
}

function findAnswerBounds(call: ModCall, between: unknown): AnswerBounds | undefined {
  const calledAt = findCallTime(call);
  if (calledAt === undefined || !Array.isArray(between)) return undefined;
  const [from, to]: readonly unknown[] = between;
  if (typeof from !== "number" || typeof to !== "number") return undefined;
  // The clocks of the game and of Gatehouse may differ by a second.
  const fromMs = Math.max(0, from - calledAt);
  return { fromMs, toMs: Math.max(fromMs, to - calledAt) };
}
