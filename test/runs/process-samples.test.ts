// What counts as growth in a long run.
import { expect, test } from "bun:test";
import { HOUR_MS } from "../../src/core/durations.ts";
import { openSocket } from "../raw-socket.ts";
import { findWarmUpMs, judgeGrowth, type ProcessSample, takeSample } from "./process-samples.ts";

/** A sample every five seconds, of the warm-up too, whose shares are negative. */
function sampleHour(residentMb: (share: number) => number, descriptors = (_share: number) => 100) {
  return Array.from({ length: 960 }, (_, at): ProcessSample => {
    const share = (at - 240) / 720;
    return { atMs: share * HOUR_MS, residentMb: residentMb(share), descriptors: descriptors(share), diskMb: 7 };
  });
}

test("the warm-up before an hour has 20 minutes, before a short run a third of its time", () => {
  expect(findWarmUpMs(HOUR_MS)).toBe(20 * 60_000);
  expect(findWarmUpMs(48 * HOUR_MS)).toBe(20 * 60_000);
  expect(findWarmUpMs(90_000)).toBe(30_000);
});

test("memory that settles after the warm-up is no problem", () => {
  const samples = sampleHour((share) => (share < 0 ? 195 + share * 200 : 195 + (share > 0.9 ? 5 : 0)));
  expect(judgeGrowth(samples, HOUR_MS)).toEqual({
    memoryStartMb: 195,
    memoryEndMb: 200,
    memoryMaxMb: 200,
    descriptorsStart: 100,
    descriptorsEnd: 100,
    diskStartMb: 7,
    diskEndMb: 7,
    problems: [],
  });
});

test("memory that goes on growing is a problem", () => {
  const { problems } = judgeGrowth(
    sampleHour((share) => 200 + share * 20),
    HOUR_MS,
  );
  expect(problems).toEqual(["resident memory grew from 201 MB to 219 MB, more than 5 %"]);
});

test("a short run allows more growth, but not any", () => {
  const judge = (endMb: number) => {
    const samples = sampleHour((share) => (share < 0.5 ? 100 : endMb));
    return judgeGrowth(
      samples.map((sample) => ({ ...sample, atMs: sample.atMs / 60 })),
      HOUR_MS / 60,
    ).problems;
  };
  expect(judge(149)).toEqual([]);
  expect(judge(151)).toEqual(["resident memory grew from 100 MB to 151 MB, more than 50 %"]);
});

test("descriptors that are not closed are a problem", () => {
  const leaking = sampleHour(
    () => 100,
    (share) => 100 + Math.round(share * 100),
  );
  const { problems } = judgeGrowth(leaking, HOUR_MS);
  expect(problems).toEqual(["open descriptors grew from 100 to 190, by more than 20"]);
});

test("a busy moment with more descriptors is no problem", () => {
  const busy = sampleHour(
    () => 100,
    (share) => (share > 0.95 ? 200 : 100),
  );
  expect(judgeGrowth(busy, HOUR_MS).problems).toEqual([]);
});

test("a part that nobody looked at, because the machine was held up, is judged by the look nearest to it", () => {
  const few = sampleHour(
    (share) => 100 + share * 50,
    (share) => 100 + Math.round(share * 50),
  ).filter(({ atMs }) => atMs > HOUR_MS / 2 && atMs < (HOUR_MS * 3) / 4);
  expect(judgeGrowth(few, HOUR_MS)).toMatchObject({ descriptorsStart: 125, descriptorsEnd: 137 });
  expect(judgeGrowth(few, HOUR_MS).problems).toEqual(["resident memory grew from 125 MB to 137 MB, more than 5 %"]);
});

test("a process that could not be looked at is a problem", () => {
  const { problems } = judgeGrowth([], HOUR_MS);
  expect(problems).toHaveLength(2);
});

test("open connections of clients are not counted as descriptors, a descriptor without one is", async () => {
  const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const listening = { pid: process.pid, port: server.port };
  const before = await takeSample(listening, import.meta.dir, 0);
  const clients = await Promise.all(Array.from({ length: 30 }, () => openSocket(server)));
  // This process holds both ends of each connection; those of other tests may have closed meanwhile.
  const after = await takeSample(listening, import.meta.dir, 0);
  const added = after.descriptors - before.descriptors;
  expect(Math.round(added / clients.length)).toBe(1);
  for (const client of clients) client.destroy();
  server.stop(true);
});
