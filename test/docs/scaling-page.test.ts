// Follows docs/scaling.md as printed, from one machine with its data folder to four instances with real processes, and
// restarts them one after another.
import { afterEach, expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { program, testWith } from "../needs.ts";
import { type PostgresServer, startPostgres, stopPostgresServers } from "../postgres-server.ts";
import { startRedis, stopRedisServers } from "../redis-server.ts";
import { serve, stop } from "../run-gatehouse.ts";
import { startBalancer } from "../runs/balancer.ts";
import { cleanUp, findFreePort, makeFolder } from "../temporary.ts";
import { until } from "../until.ts";
import { listPageBlocks } from "./page-blocks.ts";
import { makeCheckout, openTerminal, type Terminal } from "./terminal.ts";

const PATIENCE_MS = 300_000;
const INSTANCES = 4;
const LASTING = /^\.\/gatehouse serve --port (\d+) --data-dir \S+\n$/;

afterEach(async () => {
  await cleanUp();
  await Promise.all([stopRedisServers(), stopPostgresServers()]);
});

/** The superuser of the page is called postgres, and its user for Gatehouse as the superuser of our servers is. */
async function startAsOnThePage(): Promise<PostgresServer> {
  const postgres = await startPostgres();
  await postgres.ask("CREATE ROLE postgres SUPERUSER LOGIN");
  const url = postgres.urlOf().replace("gatehouse@", "postgres@");
  await postgres.ask("ALTER ROLE gatehouse RENAME TO harness", url);
  return postgres;
}

testWith(
  program("bash"),
  program("curl"),
  program("psql"),
  program("redis-cli"),
)(
  "docs/scaling.md leads from one machine to four instances as printed, and restarts in turn fail no request",
  async () => {
    const cwd = makeCheckout();
    const [postgres, redis] = await Promise.all([startAsOnThePage(), startRedis(["--appendonly", "no"])]);
    // A process of its own takes the place of the real game API.
    const game = await serve({ cwd: makeFolder() }, ["simulate", "--port", "0", "--read-limit", "0"]);
    writeFileSync(join(cwd, ".env"), `GATEHOUSE_UPSTREAM_URL=${game.url}\n`);
    const one = await serve({ cwd });
    const own = openTerminal(cwd, { GATEHOUSE_URL: one.url });
    await own.type('./gatehouse servers add "My town"\n', "abc-MyTown\n");
    const made = await own.type('./gatehouse keys create --server "My town" --label bot --commands "*" --json\n');
    const { token } = JSON.parse(made) as { token: string };
    const read = (port: number | string) =>
      fetch(`http://127.0.0.1:${port}/v2/game/server?Players=true`, {
        headers: { Authorization: `Bearer ${token}` },
        keepalive: false,
      });
    expect((await read(one.port)).status).toBe(200);

    const ports = new Map(["8081", "8082", "8083", "8084"].map((port) => [port, String(findFreePort())]));
    const toHere = (text: string) =>
      [
        ["db.internal", `127.0.0.1:${postgres.port}`],
        ["redis.internal:6379", `127.0.0.1:${redis.port}`],
        ...ports,
      ].reduce((result, [written = "", used = ""]) => result.replaceAll(written, used), text);
    const terminal = openTerminal(cwd, {});
    const instances = new Map<string, { readonly terminal: Terminal; readonly text: string }>();
    for (const { language, text: printed, place } of listPageBlocks("docs/scaling.md")) {
      // The line for users.acl has a test of its own.
      if (language !== "sh") continue;
      const text = toHere(printed);
      const port = LASTING.exec(text)?.[1];
      try {
        if (text.includes("migrate --from sqlite")) expect(await stop(one)).toBe(0);
        if (port === undefined) await terminal.type(text);
        else {
          const each = openTerminal(cwd, {});
          instances.set(port, { terminal: each, text });
          await each.start(text, "listening on");
        }
      } catch (error) {
        throw new Error(`${place} does not work as printed:\n${printed}\n${(error as Error).message}`);
      }
    }
    expect(terminal.printed).toContain("PONG");
    expect(terminal.printed.match(/"status":"ready","callers":"served","notices":\[\]/g)).toHaveLength(INSTANCES);
    expect(terminal.printed).toContain("My town");

    // The key of the one machine works on all four, and they count together.
    const left: (string | null)[] = [];
    for (const port of instances.keys()) {
      const answer = await read(port);
      expect(answer.status).toBe(200);
      left.push(answer.headers.get("x-ratelimit-remaining"));
    }
    expect(left).toEqual(["119", "118", "117", "116"]);

    const balancer = await startBalancer({ listPorts: () => [...instances.keys()].map(Number), delayMs: 0 });
    let [isOver, requests] = [false, 0];
    const reading = (async () => {
      // A key may be read 120 times a minute.
      for (; !isOver && requests < 110; requests++) {
        expect((await read(balancer)).status).toBe(200);
        await Bun.sleep(200);
      }
    })();
    for (const [port, { terminal: each, text }] of instances) {
      await each.interrupt();
      await each.start(text, "listening on");
      await until("it is not ready", async () => {
        const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
        return answer?.status === 200;
      });
    }
    isOver = true;
    await reading;
    expect(requests).toBeGreaterThan(INSTANCES);
    for (const { terminal: each } of instances.values()) await each.interrupt();
  },
  PATIENCE_MS,
);
