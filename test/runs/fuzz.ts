// npm run fuzz: sends fuzzed requests over all routes to a real process, and judges every answer by the documents.
import { runFuzz } from "./fuzz/run-fuzz.ts";
import { main } from "./long-run.ts";

await main({
  name: "fuzz",
  about: "sends fuzzed requests over all routes and judges every answer by the documents",
  options: {
    count: { kind: "number", about: "how many requests", usual: 20_000, min: 500, max: 10_000_000 },
  },
  run: ({ count }, tools) => runFuzz(count, tools),
});
