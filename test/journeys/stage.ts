// The stage of most journeys: Gatehouse in front of a fake game API, and an operator.
import { afterAll } from "bun:test";
import { type FakeAnswer, startFakeGameApi } from "../fake-game-api.ts";
import { startGatehouse, type TestOptions } from "../start-gatehouse.ts";
import { createOperator } from "./operator.ts";

/** Opened before the first test of a file, and closed after the last. */
export async function openStage({ answer, env, ...options }: TestOptions & { readonly answer?: FakeAnswer } = {}) {
  const game = startFakeGameApi(answer);
  const gatehouse = await startGatehouse({ ...options, env: { GATEHOUSE_UPSTREAM_URL: game.url, ...env } });
  afterAll(async () => {
    await gatehouse.stop();
    await game.stop();
  });
  return { game, gatehouse, operator: createOperator(gatehouse) };
}
