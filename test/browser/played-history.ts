// The past of a server that a test plays: as much of it as the page asks for, with a gap, and the same at every run.
import type { Page, Route } from "playwright-core";
import { HOUR_MS } from "../../src/core/durations.ts";
import { ERRORS } from "../../src/core/errors.ts";
import type {
  PlayersHistory,
  PlaytimeResource,
  PresentHistory,
  SessionResource,
  StaffResource,
} from "../../src/core/wire/history.ts";

const AWAY = { code: ERRORS.unavailable.code, message: "the archive is away" };
const STEPS = { "5m": 300_000, "1h": HOUR_MS, "1d": 24 * HOUR_MS } as const;

/** Half of the first quarter of every period is not known. */
export function makePlayers(from: number, to: number): PlayersHistory {
  const resolution = to - from <= 2 * 24 * HOUR_MS ? "5m" : to - from <= 31 * 24 * HOUR_MS ? "1h" : "1d";
  const step = STEPS[resolution];
  const length = Math.ceil((to - from) / step);
  const points = Array.from({ length }, (_, index) => {
    const isKnown = index < length / 8 || index >= length / 4;
    const avg = 10 + (index % 10);
    const counts = {
      min: avg - 3,
      avg,
      max: avg + 4,
      queue_max: index % 3,
      staff_max: 2,
      teams: { Police: 3 },
    };
    const nothing = { min: null, avg: null, max: null, queue_max: null, staff_max: null, teams: null };
    return { at: from + index * step, known: isKnown ? 1 : 0, ...(isKnown ? counts : nothing) };
  });
  return { resolution, points };
}

/** Saturday at 20:00 is the busiest, and Monday at 03:00 is not known. */
function makePeaks(tz: string) {
  const table = Array.from({ length: 7 }, (_, day) =>
    Array.from({ length: 24 }, (_, hour) =>
      day === 0 && hour === 3 ? null : day === 5 && hour === 20 ? 31 : (day + hour) / 2,
    ),
  );
  return { tz, table };
}

export class PlayedHistory {
  readonly queries: { readonly question: string; readonly query: URLSearchParams }[] = [];
  staff: readonly StaffResource[] = [];
  playtime: readonly PlaytimeResource[] = [];
  sessions: readonly SessionResource[] = [];
  present: Omit<PresentHistory, "at"> = { known: true, items: [] };
  /** Whether every question is answered as if the archive could not be reached. */
  isAway = false;

  /** Answers the requests of a page about the past. */
  async answerTo(page: Page): Promise<void> {
    await page.route("**/history/*", this.#answer);
  }

  readonly #answer = async (route: Route): Promise<void> => {
    const { pathname, searchParams: query } = new URL(route.request().url());
    const question = pathname.split("/").at(-1) ?? "";
    this.queries.push({ question, query });
    if (this.isAway) return route.fulfill({ status: 503, json: AWAY });
    const answer = this.#find(question, query);
    return route.fulfill({ contentType: "application/json", body: JSON.stringify(answer) });
  };

  #find(question: string, query: URLSearchParams): unknown {
    if (question === "players") return makePlayers(Number(query.get("from")), Number(query.get("to")));
    if (question === "present") return { at: Number(query.get("at")), ...this.present };
    if (question === "peaks") return makePeaks(query.get("tz") ?? "UTC");
    if (question === "staff") return { items: this.staff, next: null };
    if (question === "playtime") return { items: this.playtime, next: null };
    return { items: this.sessions.filter(({ id }) => id === query.get("player")), next: null };
  }
}
