// The runtime must not cut a slow body before its deadline, because its sender would not learn the reason.
import { expect, test } from "bun:test";
import { HookSigner } from "../../../test/signed-hooks.ts";
import { startGatehouse } from "../../../test/start-gatehouse.ts";
import { IDLE_SECONDS } from "../call.ts";
import { BODY_DEADLINE_MS } from "./body-bytes.ts";

/** The runtime may cut up to this much earlier than it is told. */
const EARLIER_MS = 4_000;
const BODY = "{";

test.each([
  { kind: "an admin request", path: "/admin/servers", isSigned: false, status: 400 },
  { kind: "a webhook of the game", path: "/hooks/game", isSigned: true, status: 400 },
  { kind: "a webhook without a signature", path: "/hooks/game", isSigned: false, status: 401 },
])("while the body of $kind is read, the idle timeout is longer than its deadline", async (asked) => {
  const signer = new HookSigner();
  const gatehouse = await startGatehouse({ env: { GATEHOUSE_GAME_PUBLIC_KEY: signer.publicKey } });
  const timeouts: number[] = [];
  const connection = {
    requestIP: () => ({ address: "127.0.0.1", port: 1 }),
    timeout: (_: Request, seconds: number) => timeouts.push(seconds),
  };
  const headers = {
    Authorization: `Bearer ${gatehouse.masterKey}`,
    "Content-Type": "application/json",
    ...(asked.isSigned && signer.sign(BODY, gatehouse.clock.now)),
  };
  const request = new Request(gatehouse.url + asked.path, { method: "POST", headers, body: BODY });
  expect((await gatehouse.app.answer(request, connection)).status).toBe(asked.status);
  expect((timeouts[0] ?? 0) * 1000).toBeGreaterThanOrEqual(BODY_DEADLINE_MS + EARLIER_MS);
  // Afterwards it is the usual one again.
  expect(timeouts.at(-1)).toBe(IDLE_SECONDS);
  await gatehouse.stop();
});

test("a request whose body takes its time is of the time when the body is there", async () => {
  const gatehouse = await startGatehouse();
  const content = new TextEncoder().encode(JSON.stringify({ name: "Town", server_key: "late-Town" }));
  const arrival = {
    pull(controller: ReadableStreamDefaultController<Uint8Array>) {
      gatehouse.clock.advance(5_000);
      controller.enqueue(content);
      controller.close();
    },
  };
  const headers = { Authorization: `Bearer ${gatehouse.masterKey}`, "Content-Type": "application/json" };
  const body = new ReadableStream(arrival, { highWaterMark: 0 });
  const request = new Request(`${gatehouse.url}/admin/servers`, { method: "POST", headers, body });
  const connection = { requestIP: () => ({ address: "127.0.0.1", port: 1 }), timeout: () => {} };
  const answer = await gatehouse.app.answer(request, connection);
  expect(await answer.json()).toMatchObject({ created_at: gatehouse.clock.now });
  await gatehouse.stop();
});
