// Background jobs: runs never overlap, and a failed run does not stop the job.
import { expect, test } from "bun:test";
import type { Log } from "../core/ports/log.ts";
import { repeatJob } from "./background-jobs.ts";

function recordLog(): { log: Log; errors: string[] } {
  const errors: string[] = [];
  return { errors, log: { debug() {}, info() {}, warn() {}, error: (_, message) => errors.push(message) } };
}

test("a run that takes long is not joined by a second one", async () => {
  const { log } = recordLog();
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<void>();
  let runs = 0;
  const run = () => {
    runs++;
    if (runs === 1) return first.promise;
    second.resolve();
    return Promise.resolve();
  };
  const stop = repeatJob({ purpose: "waiting", everyMs: 1, run }, log);
  // Other timers of the same length fire many times while the first run is not over.
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setTimeout(resolve, 1));
  expect(runs).toBe(1);
  first.resolve();
  await second.promise;
  expect(runs).toBe(2);
  await stop();
});

test("a run that fails is logged, and the job goes on", async () => {
  const { log, errors } = recordLog();
  const again = Promise.withResolvers<void>();
  let runs = 0;
  const run = async () => {
    runs++;
    if (runs === 1) throw new TypeError("a bug");
    again.resolve();
  };
  const stop = repeatJob({ purpose: "breaking", everyMs: 1, run }, log);
  await again.promise;
  expect(errors).toEqual(["breaking failed"]);
  await stop();
});
