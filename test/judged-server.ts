// For tests of history: a server that is judged reading by reading, as the recorder does it, with a memory that goes through its
// text form each time.
import { type JudgeContext, judgeReading } from "../src/core/events/judge-reading.ts";
import { judgeFailure } from "../src/core/events/judge-state.ts";
import type { ServerMemory } from "../src/core/events/memory.ts";
import { parseMemory, writeChangedParts } from "../src/core/events/memory-text.ts";
import { type GameReading, identifyReading, readOffline } from "../src/core/events/reading.ts";
import type { Counts } from "../src/core/history/counts.ts";
import type { NewStaffAct } from "../src/core/history/history.ts";
import type { EndedSession } from "../src/core/history/sessions.ts";
import { BASE_INFO } from "./fake-game-api.ts";

export const HISTORY_T0 = 1_800_000_000_000;

type Sections = GameReading["sections"];

export class JudgedServer {
  readonly #parts = new Map<string, string>();
  readonly #recorded = new Set<string>();
  memory: ServerMemory = parseMemory([]);
  readonly minutes: Counts[] = [];
  readonly sessions: EndedSession[] = [];
  readonly acts: NewStaffAct[] = [];
  /** The parts of the memory that the last reading has changed. */
  changed: string[] = [];

  read(at: number, sections: Sections, changes: Partial<GameReading> & Partial<JudgeContext> = {}): void {
    const { gameServer = "g", settings = BASE_INFO, ...context } = changes;
    this.judge({ at, gameServer, settings, sections, offline: null }, context);
  }

  offline(at: number): void {
    this.judge(readOffline(at, "g", { code: 3002, message: "offline" }));
  }

  fail(at: number): void {
    const failure = { code: 1001, message: "down" };
    this.#remember(judgeFailure(this.memory, { at, failure, isWatched: true, intervalMs: 5_000 }).memory);
  }

  judge(reading: GameReading, context: Partial<JudgeContext> = {}): void {
    const identified = identifyReading(this.memory, reading, (text) => text);
    const { events, memory, history } = judgeReading(this.memory, identified, {
      now: reading.at,
      isWatched: true,
      intervalMs: 5_000,
      lostSince: null,
      isKnown: (identity) => this.#recorded.has(identity),
      findCommand: () => undefined,
      ...context,
    });
    for (const { identity } of events) if (identity !== null) this.#recorded.add(identity);
    this.minutes.push(...history.minutes);
    this.sessions.push(...history.sessions);
    this.acts.push(...history.acts);
    this.#remember(memory);
  }

  #remember(memory: ServerMemory): void {
    const changed = writeChangedParts(this.memory, memory);
    this.changed = changed.map(({ part }) => part);
    for (const { part, text } of changed) this.#parts.set(part, text);
    this.memory = memory;
  }

  /** A new process knows only what was written. */
  restart(): void {
    this.memory = parseMemory(Array.from(this.#parts, ([part, text]) => ({ part, text })));
  }
}

/** An element of JoinLogs, seconds after the start. */
export function logEntry(second: number, player: string, isJoin = true): Record<string, unknown> {
  return { Join: isJoin, Timestamp: HISTORY_T0 / 1000 + second, Player: player };
}

/** An element of Players. */
export function shownPlayer(player: string, Team = "Civilian", Permission = "Normal"): Record<string, unknown> {
  return { Player: player, Team, Permission, Callsign: null, WantedStars: 0 };
}
