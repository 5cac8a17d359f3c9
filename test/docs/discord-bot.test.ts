// Runs the bot of examples/discord-bot as a process, with a fake Discord, the real Gatehouse and its simulator.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { bundleClient, CLIENT_FOLDER } from "../../scripts/build-clients.ts";
import { COMMAND_STATUSES } from "../../src/core/commands/command.ts";
import { ERRORS } from "../../src/core/errors.ts";
import type { EventPage } from "../../src/core/wire/event.ts";
import { startSimulator } from "../../src/simulator/simulator.ts";
import { CHANNEL_ID, FakeDiscord } from "../fake-discord.ts";
import { runToEnd, serve, stop } from "../run-gatehouse.ts";
import { cleanUp, makeFolder, undoLater } from "../temporary.ts";
import { until } from "../until.ts";
import { openTown } from "./town-for-bots.ts";

const ROOT = resolve(import.meta.dir, "../..");
const EXAMPLE = join(ROOT, "examples/discord-bot");
/** A copy, with what it needs installed. */
const BOT = mkdtempSync(join(tmpdir(), "gatehouse-bot-"));

beforeAll(async () => {
  cpSync(EXAMPLE, BOT, { recursive: true, filter: (path) => !path.includes("node_modules") });
  const client = join(BOT, "node_modules/gatehouse-client");
  mkdirSync(client, { recursive: true });
  cpSync(join(CLIENT_FOLDER, "package.json"), join(client, "package.json"));
  await bundleClient(join(client, "dist"));
  symlinkSync(join(ROOT, "node_modules/discord.js"), join(BOT, "node_modules/discord.js"));
});
afterAll(() => rmSync(BOT, { recursive: true, force: true }));
afterEach(cleanUp);

async function startBot(key: string, url: string) {
  const discord = new FakeDiscord();
  undoLater(() => discord.stop());
  await runBot(discord, key, url);
  return discord;
}

async function runBot(discord: FakeDiscord, key: string, url: string, more: Record<string, string> = {}) {
  discord.registered.length = 0;
  const bot = Bun.spawn(["node", "index.js"], {
    cwd: BOT,
    env: {
      PATH: process.env.PATH ?? "",
      DISCORD_TOKEN: "token-of-a-bot",
      DISCORD_API: discord.api,
      GATEHOUSE_KEY: key,
      GATEHOUSE_URL: url,
      ...more,
    },
    stdout: "pipe",
    stderr: "inherit",
  });
  undoLater(async () => {
    bot.kill();
    await bot.exited;
  });
  await until("the bot does not make its commands known", () => discord.registered.length > 0);
  return bot;
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
});

test("users get an explanation of errors, and the bot keeps running", async () => {
  const { url, token } = await openTown(":m");
  const discord = await startBot(token, url);
  expect((await discord.type("hint", { text: "hello" })).content).toBe(
    "My key does not allow that. Please tell my owner.",
  );
  expect((await discord.type("status")).content).toContain("are playing");
});

/** The content that the bot should have posted, from the ledger itself. */
async function listNews(url: string, token: string, after: string): Promise<string[]> {
  const news: string[] = [];
  for (let next = after; ; ) {
    const headers = { Authorization: `Bearer ${token}` };
    const query = new URLSearchParams({ after: next, types: "player.joined,modcall.opened", limit: "500" });
    const answer = await fetch(`${url}/v2/game/server/events?${query}`, { headers });
    const page = (await answer.json()) as EventPage;
    const { describe } = await import(join(BOT, "announce.js"));
    for (const event of page.items) {
      const content = describe(event);
      if (content !== undefined) news.push(content);
    }
    next = page.next;
    if (!page.has_more) return news;
  }
}

test("the bot posts joins and calls once and in order, over restarts and kills of either side", async () => {
  const cwd = makeFolder();
  const simulator = await startSimulator({ players: 20, speed: 400, readLimit: 0 });
  undoLater(() => simulator.stop());
  const watching = { GATEHOUSE_WATCH: "on", GATEHOUSE_WATCH_INTERVAL_MS: "200", GATEHOUSE_FRESH_MS: "1" };
  const settings = { ...watching, GATEHOUSE_UPSTREAM_URL: simulator.url };
  let gatehouse = await serve({ cwd, env: settings });
  const { url } = gatehouse;
  const env = { ...settings, GATEHOUSE_PORT: String(gatehouse.port) };
  const cli = { cwd, env: { GATEHOUSE_PORT: String(gatehouse.port) } };
  await runToEnd(["servers", "add", "--name", "Town"], { ...cli, input: "town-Key\n" });
  const asked = ["keys", "create", "--server", "Town", "--label", "bot", "--json"];
  const token = /"token":"([^"]+)"/.exec((await runToEnd(asked, cli)).stdout)?.[1] ?? "";

  const discord = new FakeDiscord();
  undoLater(() => discord.stop());
  const cursorFile = join(cwd, "cursor.txt");
  const start = () => runBot(discord, token, url, { DISCORD_CHANNEL: CHANNEL_ID, CURSOR_FILE: cursorFile });
  const more = async (count = 3) => {
    const before = discord.posted.length;
    await until("nothing more is posted", () => discord.posted.length >= before + count);
  };
  let bot = await start();
  // It keeps where it begins before the first post.
  await until("the bot does not save its place", () => existsSync(cursorFile));
  const after = readFileSync(cursorFile, "utf8").trim();
  await more();

  await stop(gatehouse);
  gatehouse = await serve({ cwd, env });
  await more();
  gatehouse.kill("SIGKILL");
  await gatehouse.exited;
  gatehouse = await serve({ cwd, env });
  await more();

  bot.kill("SIGTERM");
  expect(await bot.exited).toBe(0);
  bot = await start();
  await more();

  // Killed between a post and its cursor.
  discord.isSilent = true;
  await more(1);
  bot.kill("SIGKILL");
  await bot.exited;
  discord.isSilent = false;
  bot = await start();
  await more();

  discord.isAway = true;
  await until(
    "the bot does not notice",
    async () => (await listNews(url, token, after)).length > discord.posted.length + 1,
  );
  discord.isAway = false;
  await more();
  bot.kill("SIGTERM");
  await bot.exited;

  const contents = discord.posted.map(({ content }) => content);
  expect(contents).toEqual((await listNews(url, token, after)).slice(0, contents.length));
  expect(contents.some((content) => content.endsWith("has joined."))).toBe(true);
  expect(discord.posted.every(({ allowed_mentions }) => allowed_mentions?.parse.length === 0)).toBe(true);
});

test("the bot posts calls for a moderator, no backfill, and cannot be made to ping or format", async () => {
  const { describe } = await import(join(BOT, "announce.js"));
  const say = (type: string, data: object, backfill = false) => describe({ type, backfill, data });
  expect(say("modcall.opened", { Caller: "*Ann*:1" })).toBe("**\\*Ann\\*** calls for a moderator.");
  expect(say("player.joined", { Player: "Bob:2" })).toBe("**Bob** has joined.");
  expect(say("player.joined", { Player: "Bob:2" }, true)).toBeUndefined();
  expect(say("gap", { section: "JoinLogs" })).toBe("Some joins or calls may be missing here.");
  expect(say("player.left", { Player: "Bob:2" })).toBeUndefined();
  // As after the most natural edit: the caller of an emergency call is a number.
  expect(say("modcall.opened", { Caller: 123 })).toBe("**123** calls for a moderator.");
  expect(say("modcall.opened", { Caller: null })).toBe("**somebody** calls for a moderator.");
});

test("the bot tells what the game said when it refuses a hint", async () => {
  const { commands } = await import(join(BOT, "commands.js"));
  const hint = commands.find(({ data }: { data: { name: string } }) => data.name === "hint");
  const settled = async () => ({ status: "failed", upstream_message: "*no* such word" });
  const answer = await hint.run(
    { options: { getString: () => "hello" } },
    { commands: { send: async () => ({ settled }) } },
  );
  expect(answer).toBe("The game refused it. It said: \\*no\\* such word");
});

test("the bot knows every state of a command that is final, and no error code that does not exist", async () => {
  const { STATES } = await import(join(BOT, "commands.js"));
  const isFinal = (status: string) => !["queued", "sending"].includes(status);
  expect(Object.keys(STATES).toSorted()).toEqual(COMMAND_STATUSES.filter(isFinal).toSorted());

  const codes = new Set<number>(Object.values(ERRORS).map(({ code }) => code));
  const text = readFileSync(join(EXAMPLE, "explain.js"), "utf8");
  const used = Array.from(text.matchAll(/\b5\d{3}\b/g), ([code]) => Number(code));
  expect(used.length).toBeGreaterThan(5);
  expect(used.filter((code) => !codes.has(code))).toEqual([]);
});

test("the example is made for the discord.js that it is tested with, and for our client", () => {
  const read = (file: string) => JSON.parse(readFileSync(file, "utf8"));
  const { dependencies } = read(join(EXAMPLE, "package.json"));
  expect(dependencies["discord.js"]).toBe(read(join(ROOT, "package.json")).devDependencies["discord.js"]);
  expect(dependencies["discord.js"]).toBe(read(join(ROOT, "node_modules/discord.js/package.json")).version);
  expect(resolve(EXAMPLE, dependencies["gatehouse-client"].replace("file:", ""))).toBe(CLIENT_FOLDER);
});
