// npm run slow: thousands of slow sockets of eight kinds are cut in time, and good callers hardly notice them.
import { main } from "./long-run.ts";
import { holdSlowSockets } from "./slow-sockets.ts";

const ROUNDS = 3;
const PHASE_MS = 5_000;

await main({
  name: "slow",
  about: "holds slow sockets of eight kinds while good callers ask on",
  options: {
    count: { kind: "number", about: "how many slow sockets at a time", usual: 1_000, min: 8, max: 20_000 },
  },
  run: ({ count }, tools) => holdSlowSockets({ count, rounds: ROUNDS, phaseMs: PHASE_MS, isTimed: true }, tools),
});
