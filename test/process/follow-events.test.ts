// gatehouse events --follow as a process, over kills and restarts of Gatehouse.
import { afterEach, expect, test } from "bun:test";
import { startSimulator } from "../../src/simulator/simulator.ts";
import { type GatehouseProcess, run, runToEnd, serve, stop } from "../run-gatehouse.ts";
import { cleanUp, makeFolder, undoLater } from "../temporary.ts";
import { until } from "../until.ts";

afterEach(cleanUp);

const linesOf = ({ stdout }: GatehouseProcess) => stdout.split("\n").slice(0, -1);

test("--follow --json prints each event once over a restart and a kill, one a line, and Ctrl-C ends it with 0", async () => {
  const cwd = makeFolder();
  const simulator = await startSimulator({ players: 20, speed: 200, readLimit: 0 });
  undoLater(() => simulator.stop());
  const settings = {
    GATEHOUSE_UPSTREAM_URL: simulator.url,
    GATEHOUSE_WATCH: "on",
    GATEHOUSE_WATCH_INTERVAL_MS: "50",
    GATEHOUSE_FRESH_MS: "1",
  };
  let gatehouse = await serve({ cwd, env: settings });
  const port = String(gatehouse.port);
  const env = { ...settings, GATEHOUSE_PORT: port };
  const cli = { cwd, env: { GATEHOUSE_PORT: port } };
  const added = await runToEnd(["servers", "add", "--name", "Town"], { ...cli, input: "town-Key\n" });
  expect([added.exitCode, added.stderr]).toEqual([0, ""]);

  const follower = run(["events", "--follow", "--after", "earliest", "--json"], cli);
  const more = async () => {
    const before = linesOf(follower).length;
    await until("no more events are shown", () => linesOf(follower).length > before + 5);
  };
  await more();
  await stop(gatehouse);
  gatehouse = await serve({ cwd, env });
  await more();
  gatehouse.kill("SIGKILL");
  await gatehouse.exited;
  gatehouse = await serve({ cwd, env });
  await more();
  expect(await stop(follower, "SIGINT")).toBe(0);
  expect(follower.stderr).toContain("waiting for Gatehouse");

  const shown = linesOf(follower);
  const { stdout } = await runToEnd(["events", "--after", "earliest", "--json"], cli);
  const all = stdout.split("\n").slice(0, -1);
  expect(shown).toEqual(all.slice(0, shown.length));
  expect(follower.stdout).toEndWith("\n");
});
