// The runtime must not cut a slow body before its deadline, because its sender would not learn the reason.
import { expect, test } from "bun:test";
import { startGatehouse } from "../../test/start-gatehouse.ts";
import { BODY_DEADLINE_MS } from "./body-bytes.ts";
import { IDLE_SECONDS } from "./call.ts";

/** The runtime may cut up to this much earlier than it is told. */
const EARLIER_MS = 4_000;

test("while a body is read the idle timeout is longer than its deadline, and afterwards the usual one", async () => {
  const gatehouse = await startGatehouse();
  const timeouts: number[] = [];
  const connection = {
    requestIP: () => ({ address: "127.0.0.1", port: 1 }),
    timeout: (_: Request, seconds: number) => timeouts.push(seconds),
  };
  const headers = { Authorization: `Bearer ${gatehouse.masterKey}`, "Content-Type": "application/json" };
  const init = { method: "POST", headers, body: "{" };
  const answer = await gatehouse.app.answer(new Request(`${gatehouse.url}/admin/servers`, init), connection);
  expect(answer.status).toBe(400);
  expect((timeouts[0] ?? 0) * 1000).toBeGreaterThanOrEqual(BODY_DEADLINE_MS + EARLIER_MS);
  expect(timeouts.at(-1)).toBe(IDLE_SECONDS);
  await gatehouse.stop();
});
