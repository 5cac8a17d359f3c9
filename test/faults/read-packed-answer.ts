// Run as a process: reads the answer of the game API at the address in the arguments again and again, and prints the last
// failure and by how much the peak of the process's memory has grown.
import { UpstreamClient } from "../../src/upstream/client.ts";

/** Several, because bytes may also be unpacked after a call has been given up. */
const READS = 10;

const [warmUpUrl = "", baseUrl = ""] = process.argv.slice(2);
const settings = { globalKey: undefined, timeoutMs: 60_000, keepsUnknown: false, clock: Date.now };
const peakBytes = () => process.resourceUsage().maxRSS * 1024;

// What the first call loads is not growth.
await new UpstreamClient({ ...settings, baseUrl: warmUpUrl }).readServer("some-Key");
const before = peakBytes();
const upstream = new UpstreamClient({ ...settings, baseUrl });
const readings = [];
for (let i = 0; i < READS; i++) readings.push(await upstream.readServer("some-Key"));
const last = readings.at(-1);
const failure = last && "failure" in last ? last.failure : undefined;
const { code, message } = failure ?? { code: -1, message: "" };
console.log(JSON.stringify({ code, message, grownBytes: peakBytes() - before }));
