// The load without wrk: autocannon on Node, with the arguments and the result line of wrk.lua.
// Arguments: url, seconds, connections, file, first token, number of tokens, how many to skip at first, If-None-Match or "-"
import { readFileSync } from "node:fs";
import autocannon from "autocannon";

const [url, seconds, connections, path, first, count, skip, etag] = process.argv.slice(2);
const all = readFileSync(path, "utf8")
  .split("\n")
  .slice(Number(first), Number(first) + Number(count));
const turn = Number(skip) % all.length;
const lines = [...all.slice(turn), ...all.slice(0, turn)];
let clients = 0;

const result = await autocannon({
  url,
  connections: Number(connections),
  duration: Number(seconds),
  setupClient(client) {
    // Each connection has its own share of the tokens, so that all are used equally.
    const share = lines.filter((_, i) => i % Number(connections) === clients);
    clients++;
    client.setRequests(
      (share.length > 0 ? share : lines).map((token) => ({
        headers: { authorization: `Bearer ${token}`, ...(etag !== "-" && { "if-none-match": etag }) },
      })),
    );
  },
});
const line = {
  requests: result.requests.total,
  seconds: result.duration,
  p50Ms: result.latency.p50,
  p99Ms: result.latency.p99,
  refused: result["4xx"] + result["5xx"],
  broken: result.errors + result.timeouts,
};
console.log(`RESULT ${JSON.stringify(line)}`);
