// Answers what staff did in a period: how long they were there, in which teams, what they used and how fast they answered.
import type { Period, StaffFacts } from "../ports/history.ts";
import type { StaffResource } from "../wire/history.ts";
import { type CurrentSession, clip, compareIds, endOf, toTeamSeconds, touches } from "./answer-sessions.ts";
import type { StaffAct } from "./history.ts";
import { toSecondBounds, toSeconds } from "./rounding.ts";
import type { Session } from "./sessions.ts";

type Bounds = readonly [number, number];

/** Collects what is known of one person. */
class StaffRecord {
  ms = 0;
  commands = 0;
  readonly stays: Session["stays"][number][] = [];
  readonly waits: Bounds[] = [];
  #nameAt = Number.NEGATIVE_INFINITY;

  constructor(
    readonly player: string,
    public name: string,
  ) {}

  /** Of two names the newer one counts. */
  rename(name: string, at: number): void {
    if (at < this.#nameAt) return;
    this.name = name;
    this.#nameAt = at;
  }

  describe(period: Period): StaffResource {
    return {
      player: `${this.name}:${this.player}`,
      id: this.player,
      seconds: toSeconds(this.ms),
      teams: toTeamSeconds(this.stays, period),
      commands: this.commands,
      modcalls_answered: this.waits.length,
      median_between: findMedianBounds(this.waits),
    };
  }
}

/** Everybody who counts as staff, longest presence first; of equal ones the smaller id first. */
export function answerStaff(
  period: Period,
  { sessions, acts, listed }: StaffFacts,
  current: readonly CurrentSession[],
): StaffResource[] {
  const present = [...sessions, ...current].filter((session) => touches(session, period));
  const done = acts.filter(({ at }) => at >= period.from && at < period.to);
  const records = new Map<string, StaffRecord>();
  for (const [player, name] of listed) records.set(player, new StaffRecord(player, name));
  for (const { player, name } of [...done, ...present.filter(({ wasStaff }) => wasStaff)])
    if (!records.has(player)) records.set(player, new StaffRecord(player, name));
  for (const session of present) addSession(records.get(session.player), session, period);
  for (const act of done) addAct(records.get(act.player), act);
  return Array.from(records.values())
    .toSorted((a, b) => b.ms - a.ms || compareIds(a.player, b.player))
    .map((record) => record.describe(period));
}

/** Players who count as staff only by an open session, so that the archive does not know of it. */
export function listOnlyNowStaff(
  { sessions, acts, listed }: StaffFacts,
  current: readonly CurrentSession[],
): string[] {
  const known = new Set([...listed.keys(), ...[...sessions, ...acts].map(({ player }) => player)]);
  return current.filter(({ wasStaff, player }) => wasStaff && !known.has(player)).map(({ player }) => player);
}

function addSession(record: StaffRecord | undefined, session: Session, period: Period): void {
  if (!record) return;
  const end = endOf(session);
  record.rename(session.name, end);
  record.ms += clip({ from: session.joinedAt, to: end }, period);
  record.stays.push(...session.stays);
}

function addAct(record: StaffRecord | undefined, { name, at, waited }: StaffAct): void {
  if (!record) return;
  record.rename(name, at);
  if (waited) record.waits.push(waited);
  else record.commands++;
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
