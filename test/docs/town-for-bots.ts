// The environment of a bot developer: the real program with its simulator, and a key that may read everything and send hints.
import { runToEnd, serve } from "../run-gatehouse.ts";
import { makeFolder } from "../temporary.ts";

export async function openTown(commands = ":h") {
  const cwd = makeFolder();
  const town = await serve({ cwd, env: { GATEHOUSE_COMMAND_INTERVAL_MS: "50" } });
  const env = { GATEHOUSE_PORT: String(town.port) };
  const asked = ["keys", "create", "--server", "Demo", "--label", "bot", "--commands", commands, "--json"];
  const { stdout, stderr } = await runToEnd(asked, { cwd, env });
  const token = /"token":"([^"]+)"/.exec(stdout)?.[1];
  if (token === undefined) throw new Error(stdout + stderr);
  return { cwd, url: town.url, token, env: { GATEHOUSE_URL: town.url, GATEHOUSE_KEY: token } };
}
