// npm run torture -- --count N: kills the service N times while commands, events and webhooks flow.
import { runKillCycles } from "./kill-cycles.ts";
import { main } from "./long-run.ts";

await main({
  name: "torture",
  about: "kills the service with kill -9 at random moments while commands, events and webhooks flow",
  options: {
    count: { kind: "number", about: "how many kills", usual: 40, min: 1, max: 100_000 },
  },
  async run({ count }, { seed, stopped, progress }) {
    const { figures, problems } = await runKillCycles({ count, seed, stopped, progress });
    const { kills, accepted, repeated, delivered, unknown, events, gaps, webhookEvents } = figures;
    const summary =
      `${kills} kills, ${accepted} commands accepted (${repeated} submissions repeated), ${delivered} delivered, ` +
      `${unknown} unknown, ${events} events with ${gaps} gaps, ${webhookEvents} sent as webhooks`;
    return { summary, figures, problems };
  },
});
