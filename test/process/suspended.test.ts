// A process that is suspended, as a busy or sleeping machine does it, gives nothing up that was answered meanwhile.
import { afterEach, expect, test } from "bun:test";
import type { CommandBody } from "../command-judge.ts";
import { BASE_INFO, startFakeGameApi } from "../fake-game-api.ts";
import { makeDataFolder, serve } from "../run-gatehouse.ts";
import { cleanUp, undoLater } from "../temporary.ts";
import { until } from "../until.ts";

const TIMEOUT_MS = 500;
/** With an archive a thread calls the game API, and the gateway waits for it five seconds longer than the timeout. */
const CASES = [
  ["off", 2 * TIMEOUT_MS],
  ["sqlite", 5_000 + 2 * TIMEOUT_MS],
] as const;

afterEach(cleanUp);

test.each(CASES)(
  "a command whose answer came while the process was suspended is sent, with the archive %s",
  async (archive, suspendedMs) => {
    const called = Promise.withResolvers<void>();
    const suspended = Promise.withResolvers<void>();
    const api = startFakeGameApi(async ({ method }) => {
      if (method !== "POST") return Response.json(BASE_INFO);
      called.resolve();
      await suspended.promise;
      return Response.json({});
    });
    undoLater(() => api.stop());
    const { folder, token } = await makeDataFolder();
    const gatehouse = await serve({
      cwd: folder,
      env: {
        GATEHOUSE_DATA_DIR: folder,
        GATEHOUSE_UPSTREAM_URL: api.url,
        GATEHOUSE_UPSTREAM_TIMEOUT_MS: String(TIMEOUT_MS),
        GATEHOUSE_ARCHIVE: archive,
      },
    });
    const url = `${gatehouse.url}/v2/game/server/command`;
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    const body = JSON.stringify({ command: ":h hello" });
    const accepted = (await (await fetch(url, { method: "POST", headers, body })).json()) as CommandBody;
    await called.promise;
    gatehouse.kill("SIGSTOP");
    suspended.resolve();
    // The time that passes is what is tested: it must be longer than every deadline.
    await Bun.sleep(suspendedMs);
    gatehouse.kill("SIGCONT");
    const find = async () => {
      return (await (await fetch(`${url}/${accepted.command_id}`, { headers })).json()) as CommandBody;
    };
    await until("the command is still being sent", async () => (await find()).status !== "sending");
    expect(await find()).toMatchObject({ status: "sent", upstream_message: null });
  },
);
