// npm run soak -- --hours H: a day's mix of requests on one real process, whose memory and descriptors must not grow.
// With --days D, days of the game pass in minutes, and the disk must not grow either.
import { DAY_MS, HOUR_MS } from "../../src/core/durations.ts";
import { main } from "./long-run.ts";
import { runSoak } from "./soak-run.ts";

/** So many times faster than in a real town the events of a run of days happen. */
const DAYS_SPEED = 300;
/** The most events of a server in a run of days, so that old ones are deleted from the warm-up on. */
const DAYS_EVENTS_MAX = 10_000;

await main({
  name: "soak",
  about: "mixed load at a steady rate; memory and descriptors must not grow, and no answer may be unexpected",
  options: {
    hours: {
      kind: "number",
      about: "how long, after a warm-up of at most 20 minutes",
      usual: 0.03,
      min: 0.001,
      max: 48,
      isFraction: true,
    },
    days: {
      kind: "number",
      about: `days of the game instead, at ${DAYS_SPEED} times its speed, with at most ${DAYS_EVENTS_MAX} events of a server kept`,
      usual: 0,
      min: 0,
      max: 400,
      isFraction: true,
    },
    rate: { kind: "number", about: "requests in a second", usual: 250, min: 1, max: 1_000 },
  },
  run: ({ hours, days, rate }, tools) => {
    if (days === 0) return runSoak({ durationMs: hours * HOUR_MS, rate }, tools);
    const town = { speed: DAYS_SPEED, eventsMax: DAYS_EVENTS_MAX };
    return runSoak({ durationMs: (days * DAY_MS) / DAYS_SPEED, rate, town }, tools);
  },
});
