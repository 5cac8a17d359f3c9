// Answers what staff did in a period: how long they were there, in which teams, what they used and how fast they answered.
import type { Period, StaffFacts, StaffSum } from "../ports/history.ts";
import type { StaffResource } from "../wire/history.ts";
import { type CurrentSession, clip, compareIds, sumStays, toTeamSeconds, touches } from "./answer-sessions.ts";
import { toSecondBounds, toSeconds } from "./rounding.ts";

type Bounds = readonly [number, number];

/** Everybody who counts as staff, longest presence first; of equal ones the smaller id first. */
export function answerStaff(
  period: Period,
  { members }: StaffFacts,
  current: readonly CurrentSession[],
): StaffResource[] {
  const open = new Map(
    current.filter((session) => touches(session, period)).map((session) => [session.player, session]),
  );
  return members
    .map((member) => addOpenSession(member, open.get(member.player), period))
    .toSorted((a, b) => b.ms - a.ms || compareIds(a.player, b.player))
    .map(describeStaff);
}

/** Players who count as staff by an open session, of which the sums of the archive know nothing. */
export function listStaffNow(current: readonly CurrentSession[], period: Period): string[] {
  return current.filter((session) => session.wasStaff && touches(session, period)).map(({ player }) => player);
}

/** The name of an open session is the newest. */
function addOpenSession(member: StaffSum, session: CurrentSession | undefined, period: Period): StaffSum {
  if (!session) return member;
  const { name, joinedAt, until, stays } = session;
  const ms = member.ms + clip({ from: joinedAt, to: until }, period);
  return { ...member, name, ms, teamMs: sumStays(stays, period, member.teamMs) };
}

function describeStaff({ player, name, role, ms, teamMs, commands, byKind, waits }: StaffSum): StaffResource {
  return {
    player: `${name}:${player}`,
    id: player,
    seconds: toSeconds(ms),
    teams: toTeamSeconds(teamMs),
    role,
    commands,
    commands_by_kind: byKind,
    modcalls_answered: waits.length,
    median_between: findMedianBounds(waits),
  };
}

/**
 * The median of times of which only bounds are known, in seconds: it is at least the median of the lower and at most the median
 * of the upper bounds, because a median never falls when one of its values grows. Null without any.
 */
export function findMedianBounds(bounds: readonly Bounds[]): [number, number] | null {
  if (bounds.length === 0) return null;
  const low = findMedian(bounds.map(([least]) => least));
  const high = findMedian(bounds.map(([, most]) => most));
  return toSecondBounds(low, high);
}

function findMedian(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? 0;
  return (lower + upper) / 2;
}
