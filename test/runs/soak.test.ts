// The short form of the soak: a few seconds of the whole mix on a real process.
import { afterEach, expect, test } from "bun:test";
import { cleanUp } from "../temporary.ts";
import { SoakLoad } from "./soak-load.ts";
import { listErrors, runSoak } from "./soak-run.ts";
import type { SoakStage } from "./soak-stage.ts";

const DURATION_MS = 4_000;
const RATE = 100;

afterEach(cleanUp);

test("a few seconds of mixed load leave no unexpected answer and no broken stream", async () => {
  const tools = { seed: 1, stopped: new AbortController().signal, progress: () => {} };
  const { figures, problems } = await runSoak({ durationMs: DURATION_MS, rate: RATE }, tools);
  // So short a run is over before memory has settled, so its growth means nothing.
  expect(problems.filter((problem) => !problem.startsWith("resident memory grew"))).toEqual([]);
  expect(figures.requests).toBeGreaterThan(RATE);
  expect(figures.events).toBeGreaterThan(0);
  expect(figures.webhookRequests).toBeGreaterThan(0);
});

test("an answer with an unexpected status is told", async () => {
  const server = Bun.serve({ port: 0, fetch: () => new Response("broken", { status: 503 }) });
  const key = { token: "gth_x", facadeKey: "gthx-srvx", keyId: "key_x" };
  const stage = { gatehouse: { url: server.url.origin }, keys: [key] } as unknown as SoakStage;
  // The first kind is a read.
  const load = new SoakLoad(stage, () => 0);
  await expect(load.sendOne()).rejects.toThrow(/^read: .* was answered with 503: broken$/);
  await server.stop(true);
});

test("lines of the log that tell of an error are found", () => {
  const lines = ['{"level":30,"msg":"started"}', '{"level":40,"msg":"slow"}', '{"level":50,"msg":"broken"}', ""];
  expect(listErrors(lines.join("\n"))).toEqual(['{"level":50,"msg":"broken"}']);
});
