// The line of docs/scaling.md for a user of its own in Redis gives Gatehouse all it needs, and nothing of other programs.
import { afterAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createOperator } from "../journeys/operator.ts";
import { startPostgres, stopPostgresServers } from "../postgres-server.ts";
import { startRedis, stopRedisServers } from "../redis-server.ts";
import { startGatehouse } from "../start-gatehouse.ts";

const page = readFileSync(join(import.meta.dir, "../../docs/scaling.md"), "utf8");
const PASSWORD = "a-password-of-redis";
afterAll(() => Promise.all([stopRedisServers(), stopPostgresServers()]));

test("with the user of the documents everything works, and no command was refused", async () => {
  const rules = /^user gatehouse (.*)$/m.exec(page)?.[1]?.replace("<password>", PASSWORD).split(" ") ?? [];
  const [redis, postgres] = await Promise.all([startRedis(), startPostgres()]);
  await redis.ask("ACL", "SETUSER", "gatehouse", ...rules);
  const gatehouse = await startGatehouse({
    env: {
      GATEHOUSE_STORE: await postgres.createDatabase(),
      GATEHOUSE_REDIS: redis.url.replace("redis://", `redis://gatehouse:${PASSWORD}@`),
      GATEHOUSE_SECRET: "a secret of thirty-two characters or more",
      GATEHOUSE_MASTER_KEY: "redis-acl-master-key-0123456789abcdef",
    },
  });
  const operator = createOperator(gatehouse);
  const server = await operator.addServer();
  const key = await operator.addKey(server, { commands: ["*"] });
  expect((await gatehouse.get("/v2/game/server?Players=true", key.token)).status).toBe(200);
  const headers = { Authorization: `Bearer ${key.token}`, "Content-Type": "application/json" };
  const body = '{"command":":h hello"}';
  const sent = await fetch(`${gatehouse.url}/v2/game/server/command`, { method: "POST", headers, body });
  expect(sent.status).toBe(202);
  for (const path of ["/v2/game/server/command", "/v2/game/key"]) {
    expect((await gatehouse.get(path, key.token)).status).toBe(200);
  }
  await operator.rotate(key);
  await operator.captureState();
  const ready = await gatehouse.get("/readyz");
  expect([ready.status, await ready.text()]).toEqual([200, expect.not.stringContaining("redis_away")]);
  const longAgo = { now: gatehouse.clock.now, usage: 0, audit: 0, commands: 0 };
  await gatehouse.app.store.tidy(longAgo);
  expect((await gatehouse.admin("DELETE", `/admin/servers/${server.server_id}`)).status).toBe(200);
  await gatehouse.stop();
  expect(await redis.ask("ACL", "LOG")).toEqual([]);
  expect(gatehouse.logLines.filter((line) => line.includes("NOPERM"))).toEqual([]);
  for (const command of [["GET", "other:program"], ["FLUSHALL"], ["KEYS", "*"], ["CONFIG", "SET", "save", ""]]) {
    expect(String(await redis.ask("ACL", "DRYRUN", "gatehouse", ...command))).toContain("no permission");
  }
});
