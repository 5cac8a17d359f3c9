// Deleting a server may take long; its connection is not kept longer than others afterwards.
import { expect, test } from "bun:test";
import { startGatehouse } from "../../../test/start-gatehouse.ts";
import { IDLE_SECONDS } from "../call.ts";

test("after a deletion the idle timeout of the connection is the usual one again", async () => {
  const gatehouse = await startGatehouse();
  const { serverId } = await gatehouse.addServer();
  for (const id of [serverId, "srv_unknown"]) {
    const timeouts: number[] = [];
    const connection = {
      requestIP: () => ({ address: "127.0.0.1", port: 1 }),
      timeout: (_: Request, seconds: number) => timeouts.push(seconds),
    };
    const headers = { Authorization: `Bearer ${gatehouse.masterKey}` };
    const request = new Request(`${gatehouse.url}/admin/servers/${id}`, { method: "DELETE", headers });
    await gatehouse.app.answer(request, connection);
    expect(timeouts.length).toBeGreaterThan(1);
    expect(timeouts.at(-1)).toBe(IDLE_SECONDS);
  }
  await gatehouse.stop();
});
