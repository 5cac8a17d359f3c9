// Runs the bot of examples/discord-bot-python as a process, with a stand-in for discord.py, which cannot be installed everywhere.
import { afterAll, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Gatehouse } from "../../packages/client/src/gatehouse.ts";
import { pages } from "../../packages/client/src/pages.ts";
import { PYTHON_FOLDER } from "../../scripts/build-clients.ts";
import { ASYNC_PYTHONS, aiohttp } from "../clients/python-at-hand.ts";
import { BASE_INFO, startFakeGameApi } from "../fake-game-api.ts";
import { testWith } from "../needs.ts";
import { makeDataFolder, run, runToEnd, serve } from "../run-gatehouse.ts";
import { cleanUp, findFreePort, makeFolder } from "../temporary.ts";
import { until } from "../until.ts";
import { listPageBlocks, ROOT } from "./page-blocks.ts";
import { openTown } from "./town-for-bots.ts";

const EXAMPLE = "examples/discord-bot-python";
const STAND_IN = join(import.meta.dir, "discord-stand-in");
const PATIENCE_MS = 120_000;
const CODE_LINES_MAX = 25;
const [PYTHON = ""] = ASYNC_PYTHONS;

afterAll(cleanUp, PATIENCE_MS);

const countLines = (text: string) => text.split("\n").filter((line) => line.trim() !== "").length;

test("the bot has at most 25 lines of code, and its command with the outcome 10", () => {
  expect(countLines(readFileSync(join(ROOT, EXAMPLE, "bot.py"), "utf8"))).toBeLessThanOrEqual(CODE_LINES_MAX);
  const command = listPageBlocks(`${EXAMPLE}/README.md`).find(({ language }) => language === "python");
  expect(countLines(command?.text ?? "")).toBe(10);
});

testWith(aiohttp)(
  "the bot posts each join, kill and call once, while it and Gatehouse are killed and started again",
  async () => {
    const joins: object[] = [];
    const kills: object[] = [];
    const calls: object[] = [];
    let isQuiet = true;
    const game = startFakeGameApi(() => {
      const number = joins.length + 1;
      const Timestamp = 1_800_000_000 + number;
      if (!isQuiet) {
        joins.unshift({ Join: true, Timestamp, Player: `Player_${number}:${number}` });
        if (number % 3 === 0) kills.unshift({ Timestamp, Killed: `Player_${number}:${number}` });
        if (number % 5 === 0) calls.unshift({ Timestamp, Caller: `Player_${number}:${number}`, Moderator: null });
        // Any field may be missing.
        if (number % 5 === 1) joins.unshift({ Join: true, Timestamp });
      }
      const logs = { JoinLogs: joins.slice(0, 200), KillLogs: kills.slice(0, 200), ModCalls: calls.slice(0, 200) };
      return Response.json({ ...BASE_INFO, ...logs });
    });
    const { folder, token } = await makeDataFolder();
    const env = {
      GATEHOUSE_DATA_DIR: folder,
      GATEHOUSE_UPSTREAM_URL: game.url,
      GATEHOUSE_PORT: String(findFreePort()),
      GATEHOUSE_WATCH: "on",
      GATEHOUSE_WATCH_INTERVAL_MS: "50",
    };
    let gatehouse = await serve({ cwd: folder, env });
    const client = new Gatehouse({ baseUrl: gatehouse.url, token });
    await until("the server is not read", () => game.calls.length > 1);
    const cwd = makeFolder();
    const posts = join(cwd, "posts");
    const start = () =>
      run(["-B", join(ROOT, EXAMPLE, "bot.py")], {
        cwd,
        program: PYTHON,
        env: {
          GATEHOUSE_URL: gatehouse.url,
          GATEHOUSE_KEY: token,
          DISCORD_TOKEN: "token-of-a-bot",
          DISCORD_CHANNEL: "12",
          POSTS: posts,
          PYTHONPATH: `${PYTHON_FOLDER}:${STAND_IN}`,
        },
      });
    const listPosts = () => {
      const lines = existsSync(posts) ? readFileSync(posts, "utf8").trimEnd().split("\n") : [];
      return lines.map((line) => JSON.parse(line) as { channel: number; nonce: string; text: string });
    };
    // It begins where it is told to, because what happens before its first connection is not its news.
    const { next } = await client.listEvents({ after: "earliest", limit: 500 });
    writeFileSync(join(cwd, "cursor.txt"), next);
    isQuiet = false;
    let bot = start();
    for (const victim of ["gatehouse", "bot", "bot", "gatehouse"]) {
      const before = listPosts().length;
      await until(`nothing is posted: ${bot.stderr}`, () => listPosts().length > before + 3);
      if (victim === "gatehouse") {
        gatehouse.kill("SIGKILL");
        await gatehouse.exited;
        gatehouse = await serve({ cwd: folder, env });
      } else {
        bot.kill("SIGKILL");
        await bot.exited;
        bot = start();
      }
    }
    isQuiet = true;
    const read = game.calls.length;
    await until("the last reading is not made", () => game.calls.length > read + 2);
    const wanted: string[] = [];
    const types = ["player.joined", "player.killed", "modcall.opened"] as const;
    for await (const { items } of pages((cursor) => client.listEvents({ after: cursor ?? next, types, limit: 500 })))
      wanted.push(...items.filter(({ type, backfill }) => type !== "gap" && !backfill).map(({ id }) => id));
    await until("the last event is not posted", () => listPosts().length >= wanted.length);
    expect(listPosts().map(({ nonce }) => nonce)).toEqual(wanted);
    const texts = listPosts().map(({ text }) => text);
    for (const shape of [
      /^Player\\_\d+:\d+ joined$/,
      /^Somebody joined$/,
      /^Somebody killed Player\\_\d+:\d+$/,
      /calls for a moderator$/,
    ])
      expect(texts.some((text) => shape.test(text))).toBe(true);
    bot.kill("SIGKILL");
    await bot.exited;
    await game.stop();
  },
  PATIENCE_MS,
);

testWith(aiohttp)(
  "the command of its page says what became of it, and why it was refused",
  async () => {
    const { url, token } = await openTown();
    const block = listPageBlocks(`${EXAMPLE}/README.md`).find(({ language }) => language === "python")?.text ?? "";
    const program = `import asyncio, sys, types
import discord
from gatehouse_client import AsyncGatehouse, GatehouseError
tree = types.SimpleNamespace(command=lambda description: lambda function: function)
gatehouse = AsyncGatehouse(sys.argv[1], sys.argv[2])
async def done(*_, **__): pass
async def answer(text): print(text)
talk = types.SimpleNamespace(response=types.SimpleNamespace(defer=done), followup=types.SimpleNamespace(send=answer))
${block}
async def main():
    await hint(talk, "Hello")
    await hint(talk, "two\\nlines")
    await gatehouse.close()
asyncio.run(main())
`;
    const env = { PYTHONPATH: `${PYTHON_FOLDER}:${STAND_IN}` };
    const { stdout, stderr } = await runToEnd(["-B", "-c", program, url, token], {
      cwd: makeFolder(),
      program: PYTHON,
      env,
    });
    expect(stderr).toBe("");
    expect(stdout).toMatch(/^It is sent\. \nIt was not sent: invalid_request: command: .+ \(5104, HTTP 400\)\n$/);
  },
  PATIENCE_MS,
);
