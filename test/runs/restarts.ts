// npm run restarts: rolling restarts of four instances behind a balancer, under load and with streams open.
import { main } from "./long-run.ts";
import { runRestarts } from "./rolling-restarts.ts";

await main({
  name: "restarts",
  about: "restarts four instances in turn behind a balancer, under load and with streams open",
  options: {
    count: { kind: "number", about: "how many restarts", usual: 20, min: 1, max: 500 },
    "delay-ms": {
      kind: "number",
      about: "how long every byte is on its way through the balancer",
      usual: 0,
      min: 0,
      max: 200,
    },
  },
  run: ({ count, "delay-ms": delayMs }, tools) => runRestarts({ count, delayMs }, tools),
});
