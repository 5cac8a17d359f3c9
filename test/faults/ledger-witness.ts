// Stands between Gatehouse and the simulator and notes what every reading showed, so that a ledger can be compared with what
// was shown and with what happened.
import { expect } from "bun:test";
import { LOG_LISTS } from "../../src/core/events/memory.ts";
import type { Gap } from "../../src/core/wire/event-data.ts";
import type { Simulator } from "../../src/simulator/simulator.ts";
import { undoLater } from "../temporary.ts";
import { count, countTold, findHidden, isInGap, keyOf, LIST_OF, listGaps, type ToldEvent } from "./ledger-judge.ts";

type Fields = Record<string, unknown>;

export class LedgerWitness {
  readonly #simulator: Simulator;
  readonly #town: string;
  /** How often one reading showed equal entries, at most. */
  readonly #shown = new Map<string, number>();
  #newest: readonly string[] = [];
  #readings = 0;
  #firstReadingAt: number | undefined;
  #onReading: (() => void)[] = [];

  constructor(simulator: Simulator, town: string) {
    this.#simulator = simulator;
    this.#town = town;
  }

  get readings(): number {
    return this.#readings;
  }

  /** The address to use instead of the simulator's. */
  open(): string {
    const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: (request) => this.#forward(request) });
    undoLater(() => server.stop(true));
    return `http://127.0.0.1:${server.port}`;
  }

  /** Resolves when so many more readings were answered. */
  async pass(readings: number): Promise<void> {
    const goal = this.#readings + readings;
    while (this.#readings < goal) await new Promise<void>((resolve) => this.#onReading.push(resolve));
  }

  /** The entries of the newest reading. */
  get newest(): readonly string[] {
    return this.#newest;
  }

  /** Whether every entry of a reading, by default of the newest one, is among these events. */
  hasNewest(events: readonly ToldEvent[], newest = this.#newest): boolean {
    const told = countTold(events);
    return [...count(newest)].every(([key, times]) => (told.get(key) ?? 0) >= times);
  }

  /**
   * Each entry that a reading showed is told as often as one reading showed it; every other one lies in a gap. So does an entry
   * whose only readings were lost with a killed process, unless it equals one that is told or lies between two equal ones
   * (`areEqualsTold`): equal entries that no recorded reading showed together cannot be told apart.
   */
  judge(
    events: readonly ToldEvent[],
    { areEqualsTold = false } = {},
  ): { gaps: readonly Gap[]; told: number; happened: number } {
    const told = countTold(events);
    const gaps = listGaps(events);
    const tooOften = [...told].filter(([key, times]) => times > (this.#shown.get(key) ?? 0));
    expect(tooOften).toEqual([]);
    const { entries = [], truncated } = this.#simulator.findEntries(this.#town) ?? {};
    expect(truncated).toBe(false);
    const left = new Map(told);
    const hidden = areEqualsTold ? findHidden(entries) : new Set<string>();
    const lost: string[] = [];
    for (const { list, element } of entries.toReversed()) {
      const key = keyOf(list, element);
      const times = left.get(key) ?? 0;
      left.set(key, times - 1);
      const at = Number(element.Timestamp) * 1000;
      if (times > 0 || (!this.#shown.has(key) && at < (this.#firstReadingAt ?? 0))) continue;
      if (hidden.has(key)) continue;
      if (told.has(key) && (areEqualsTold || told.get(key) === this.#shown.get(key))) continue;
      if (!isInGap(gaps, list, at)) lost.push(`${key} at ${at}, shown ${this.#shown.get(key) ?? 0}`);
    }
    expect(lost).toEqual([]);
    return { gaps, told: told.size, happened: entries.length };
  }

  async #forward(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    const answer = await fetch(this.#simulator.url + pathname + search, {
      method: request.method,
      headers: request.headers,
      ...(request.method === "POST" && { body: await request.bytes() }),
    });
    const text = await answer.text();
    if (request.method === "GET" && answer.status === 200) this.#note(text);
    const headers = new Headers(answer.headers);
    for (const name of ["content-encoding", "content-length", "connection"]) headers.delete(name);
    return new Response(text, { status: answer.status, headers });
  }

  #note(text: string): void {
    const answer = JSON.parse(text) as Fields;
    this.#firstReadingAt ??= Date.now();
    this.#newest = LOG_LISTS.flatMap((list) => {
      return ((answer[list] ?? []) as Fields[]).map((element) => keyOf(list, element));
    });
    for (const [key, times] of count(this.#newest)) {
      this.#shown.set(key, Math.max(this.#shown.get(key) ?? 0, times));
    }
    this.#readings++;
    for (const resolve of this.#onReading.splice(0)) resolve();
  }
}

/** Whether these events tell of every list. */
export function hasEveryList(events: readonly ToldEvent[]): boolean {
  const told = new Set(events.map(({ type }) => LIST_OF[type]));
  return LOG_LISTS.every((list) => told.has(list));
}
