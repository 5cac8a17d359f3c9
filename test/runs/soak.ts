// npm run soak -- --hours H: a day's mix of requests on one real process, whose memory and descriptors must not grow.
import { main } from "./long-run.ts";
import { runSoak } from "./soak-run.ts";

const MS_PER_HOUR = 3_600_000;

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
    rate: { kind: "number", about: "requests in a second", usual: 250, min: 1, max: 1_000 },
  },
  run: ({ hours, rate }, tools) => runSoak({ durationMs: hours * MS_PER_HOUR, rate }, tools),
});
