// Runs the bot of examples/discord-bot as a process, with a fake Discord, the real Gatehouse and its simulator.
import { afterEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { COMMAND_STATUSES } from "../../src/core/command.ts";
import { ERRORS } from "../../src/core/errors.ts";
import { cleanUp, undoLater, until } from "../process/run-gatehouse.ts";
import { startFakeDiscord } from "./fake-discord.ts";
import { openTown } from "./town-for-bots.ts";

const ROOT = resolve(import.meta.dir, "../..");
const BOT = join(ROOT, "examples/discord-bot");

afterEach(cleanUp);

async function startBot(key: string, url: string) {
  const discord = startFakeDiscord();
  undoLater(() => discord.stop());
  const bot = Bun.spawn(["node", "index.js"], {
    cwd: BOT,
    env: {
      PATH: process.env.PATH ?? "",
      DISCORD_TOKEN: "token-of-a-bot",
      DISCORD_API: discord.api,
      GATEHOUSE_KEY: key,
      GATEHOUSE_URL: url,
    },
    stdout: "pipe",
    stderr: "inherit",
  });
  undoLater(async () => {
    bot.kill();
    await bot.exited;
  });
  await until("the bot does not make its commands known", () => discord.registered.length > 0, 20_000);
  return discord;
}

test("the bot shows the status and the players, and sends a hint to the game", async () => {
  const { url, token } = await openTown();
  const discord = await startBot(token, url);
  expect(discord.registered).toEqual(["status", "players", "hint"]);

  const ask = async (section: string) => {
    const headers = { Authorization: `Bearer ${token}` };
    const response = await fetch(`${url}/v2/game/server?${section}=true`, { headers });
    return (await response.json()) as Record<string, unknown> & { CommandLogs: { Command: string }[] };
  };
  const { Name, MaxPlayers } = await ask("Players");

  const status = await discord.type("status");
  expect(status.content).toContain(`**${Name}**`);
  expect(status.content).toMatch(new RegExp(`\\d+ of ${MaxPlayers} are playing, \\d+ in the queue\\.`));

  const players = await discord.type("players");
  expect(players.content).toMatch(/\*\*\w+.*\*\* \(\d+\): \S+/);
  expect(players.allowed_mentions?.parse).toEqual([]);

  const hint = await discord.type("hint", { text: "Drive\ncarefully" });
  expect(hint.content).toBe("The game has taken it.");
  const isLogged = async () => {
    const { CommandLogs } = await ask("CommandLogs");
    return CommandLogs.some(({ Command }) => Command === ":h Drive carefully");
  };
  await until("the game's log does not show the hint", isLogged);
}, 60_000);

test("users get an explanation of errors, and the bot keeps running", async () => {
  const { url, token } = await openTown(":m");
  const discord = await startBot(token, url);
  expect((await discord.type("hint", { text: "hello" })).content).toBe(
    "My key does not allow that. Please tell my owner.",
  );
  expect((await discord.type("status")).content).toContain("are playing");
}, 60_000);

test("the bot knows every state of a command that is final, and no error code that does not exist", async () => {
  const { FINAL_STATUSES } = await import(join(BOT, "gatehouse.js"));
  const { STATES } = await import(join(BOT, "commands.js"));
  const unfinished = ["queued", "sending"];
  expect([...unfinished, ...FINAL_STATUSES].toSorted()).toEqual([...COMMAND_STATUSES].toSorted());
  expect(Object.keys(STATES).toSorted()).toEqual([...FINAL_STATUSES].toSorted());

  const codes = new Set<number>(Object.values(ERRORS).map(({ code }) => code));
  const used = ["gatehouse.js", "explain.js"].flatMap((file) => {
    return Array.from(readFileSync(join(BOT, file), "utf8").matchAll(/\b5\d{3}\b/g), ([code]) =>
      Number(code),
    );
  });
  expect(used.length).toBeGreaterThan(5);
  expect(used.filter((code) => !codes.has(code))).toEqual([]);
});

test("the example is made for the discord.js that it is tested with", () => {
  const read = (file: string) => JSON.parse(readFileSync(file, "utf8"));
  const example = read(join(BOT, "package.json")).dependencies["discord.js"];
  expect(example).toBe(read(join(ROOT, "package.json")).devDependencies["discord.js"]);
  expect(example).toBe(read(join(ROOT, "node_modules/discord.js/package.json")).version);
});
