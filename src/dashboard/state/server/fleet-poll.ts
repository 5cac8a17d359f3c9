// Reads servers for the overview: slowly, one after the other, each at the pace of its own key.
import { useEffect, useState } from "react";
import { ERRORS } from "../../../core/errors.ts";
import type { Section } from "../../../core/sections.ts";
import type { ApiError } from "../../api/request.ts";
import { type CallerSession, endsSession } from "../session/session.ts";
import { type SetTimer, setPageTimer } from "../time/throttle.ts";
import { type Reading, ServerPoll } from "./server-poll.ts";

/** What the overview counts. */
export const FLEET_SECTIONS: readonly Section[] = ["Players", "Queue", "ModCalls", "EmergencyCalls"];
export const FLEET_INTERVAL_MS = 30_000;
/** Between the first readings of two servers. */
export const STAGGER_MS = 500;
export const FLEET_STALE_MS = 3 * FLEET_INTERVAL_MS;
const CALLS_MAX = 100;

export type FleetMember = { readonly id: string; readonly session: Pick<CallerSession, "api" | "pace" | "sections"> };

/** With how many calls wait, counted as in the server's own views; undefined where Gatehouse remembers none. */
export type FleetReading = Reading & { readonly waiting?: number | undefined };

/** What was read with a key. Kept with its session, so that opening the overview again does not read at once again. */
type Memory = { readonly poll: ServerPoll; reading: FleetReading | undefined; readAt: number; hasCalls: boolean };

const memories = new WeakMap<FleetMember["session"], Memory>();

export class FleetPoll {
  readonly #members: readonly FleetMember[];
  readonly #onReading: (member: FleetMember, reading: FleetReading) => void;
  readonly #now: () => number;
  readonly #setTimer: SetTimer;
  #run: AbortController | undefined;

  constructor(
    members: readonly FleetMember[],
    onReading: (member: FleetMember, reading: FleetReading) => void,
    now: () => number = Date.now,
    setTimer: SetTimer = setPageTimer,
  ) {
    this.#members = members;
    this.#onReading = onReading;
    this.#now = now;
    this.#setTimer = setTimer;
  }

  start(): void {
    if (this.#run) return;
    this.#run = new AbortController();
    const { signal } = this.#run;
    for (const [index, member] of this.#members.entries()) {
      const { reading, readAt } = remember(member.session);
      if (reading) this.#onReading(member, reading);
      const dueMs = reading ? readAt + FLEET_INTERVAL_MS - this.#now() : 0;
      this.#schedule(member, Math.max(index * STAGGER_MS, dueMs), signal);
    }
  }

  stop(): void {
    this.#run?.abort();
    this.#run = undefined;
  }

  #schedule(member: FleetMember, delayMs: number, signal: AbortSignal): void {
    const cancel = this.#setTimer(() => void this.#read(member, signal), delayMs);
    signal.addEventListener("abort", cancel, { once: true });
  }

  async #read(member: FleetMember, signal: AbortSignal): Promise<void> {
    const { pace } = member.session;
    if (signal.aborted) return;
    if (!pace.mayPoll(this.#now())) {
      return this.#schedule(member, pace.delayMs(FLEET_INTERVAL_MS, this.#now()), signal);
    }
    const memory = remember(member.session);
    let reading: FleetReading;
    try {
      reading = await memory.poll.read(signal);
      if (!reading.error) reading = { ...reading, waiting: await countWaiting(member.session, memory, signal) };
    } catch {
      // Reading throws only after `stop`.
      return;
    }
    memory.reading = reading;
    memory.readAt = this.#now();
    if (signal.aborted) return;
    this.#onReading(member, reading);
    if (reading.error && endsSession(reading.error)) return;
    this.#schedule(member, pace.delayMs(FLEET_INTERVAL_MS, memory.readAt), signal);
  }
}

async function countWaiting(
  { api }: FleetMember["session"],
  memory: Memory,
  signal: AbortSignal,
): Promise<number | undefined> {
  if (!memory.hasCalls) return undefined;
  const outcome = await api.listModCalls({ state: "waiting", limit: CALLS_MAX }, signal);
  if (outcome.ok) return outcome.value.items.filter(({ is_here }) => is_here).length;
  memory.hasCalls = outcome.error.code !== ERRORS.notConfigured.code;
  return undefined;
}

function remember(session: FleetMember["session"]): Memory {
  let memory = memories.get(session);
  if (!memory) {
    const { api, pace, sections } = session;
    const poll = new ServerPoll(api, pace, sections, []);
    poll.subscribe(Symbol("fleet"), FLEET_SECTIONS);
    memory = { poll, reading: undefined, readAt: 0, hasCalls: sections.includes("ModCalls") };
    memories.set(session, memory);
  }
  return memory;
}

/** The readings by id of the member. `onEnd` is called for a member whose key no longer works. */
export function useFleet(
  members: readonly FleetMember[],
  onEnd: (id: string, error: ApiError) => void,
): ReadonlyMap<string, FleetReading> {
  const [readings, setReadings] = useState<ReadonlyMap<string, FleetReading>>(new Map());
  useEffect(() => {
    const poll = new FleetPoll(members, ({ id }, reading) => {
      setReadings((old) => new Map(old).set(id, reading));
      if (reading.error && endsSession(reading.error)) onEnd(id, reading.error);
    });
    const adaptToTab = () => (document.hidden ? poll.stop() : poll.start());
    adaptToTab();
    document.addEventListener("visibilitychange", adaptToTab);
    return () => {
      document.removeEventListener("visibilitychange", adaptToTab);
      poll.stop();
    };
  }, [members, onEnd]);
  return readings;
}
