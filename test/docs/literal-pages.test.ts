// Runs every command and every program of the pages that a new user reads, in order and as printed, in a new folder and
// with real processes: of this checkout on the pages of the first start, else of the program that every test uses.
import { afterEach, expect, test } from "bun:test";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { signStandardMessage, toStandardTest, writeWebhookSecret } from "../../src/core/webhooks/standard.ts";
import { ASYNC_PYTHONS, aiohttp } from "../clients/python-at-hand.ts";
import { program, testWith } from "../needs.ts";
import { CHECKOUT, PROGRAM, serve, stop } from "../run-gatehouse.ts";
import { cleanUp, findFreePort, makeFolder, undoLater } from "../temporary.ts";
import { listPageBlocks, type PageBlock, parseBlocks, ROOT } from "./page-blocks.ts";
import { makeCheckout, openTerminal, type Terminal } from "./terminal.ts";

/** The blocks that are not run, by page and first line. Every other block is run, and fails its test when it cannot. */
const NOT_RUN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "README.md": {
    '{"Name":"Cedar County State Roleplay","OwnerId":2890053314,"CoOwnerIds":[7146175597],"CurrentPlayers":24,"MaxPlayers":24,':
      "an answer, shortened; the page's curl line is run and its answer is checked",
    "npm run check       # formatting, lint, types and every test": "runs this test, among all others",
  },
  "docs/events.md": {
    '    {"items": [{"id": "AAAAAAGJh1xvK2m3x5XmQm1c", "type": "player.joined", "at": 1794722200000, "seen_at": 1794722203518,':
      "an answer; the page's curl lines are run and their answers are checked",
    '    {"type": "gap", "data": {"section": "KillLogs", "reason": "no_overlap", "from": 1794722260000, "to": 1794722331000}}':
      "an event, shortened",
    "    retry: 2000": "messages of a stream; the page's curl line is run and its messages are checked",
  },
  "docs/testing-your-bot.md": { "name: test": "a workflow; its last line is run beside the page" },
  "docs/history.md": Object.fromEntries(
    [
      '    {"resolution": "5m", "points": [{"at": 1794722100000, "known": 1, "min": 21, "avg": 22.64, "max": 24, "queue_max": 3, "staff_max": 2, "teams": {"Civilian": 14.1, "Police": 8.54}},',
      '    {"items": [{"player": "QuietHarbor:1184420", "id": "1184420", "joined_at": 1794722200000, "left_at": null, "seconds": 145, "ended": null, "teams": {"Civilian": 140}},',
      '    {"items": [{"player": "WindyWillow821:2686120778", "id": "2686120778", "seconds": 25212, "sessions": 4}], "next": null}',
      '    {"items": [{"player": "WindyWillow821:2686120778", "id": "2686120778", "seconds": 25212, "teams": {"Police": 21600, "Civilian": 3600},',
      '    {"at": 1794722150000, "known": true, "items": [{"player": "WindyWillow821:2686120778", "id": "2686120778", "joined_at": 1794715000000, "left_at": 1794722200000, "seconds": 7200, "ended": "log", "teams": {"Police": 5400, "Civilian": 1795}}]}',
      '    {"tz": "Europe/Berlin", "table": [[4.2, 3.1, 2.5, null, "…"], ["…"]]}',
    ].map((line) => [line, "an answer; the page's curl lines are run and their answers are checked"]),
  ),
};

/** Pages whose commands are run, and a part of what they print. Their other blocks are answers. */
const REFERENCE: Readonly<Record<string, string>> = {
  "docs/reading.md": '"Players":[',
  "docs/commands.md": '"command_id":"cmd_',
  "docs/alerts.md": "kills",
  "docs/status.md": "demo",
  "docs/admin-api.md": '"left":-1560',
};

/** What a reader types when a command asks. */
const TYPED: Readonly<Record<string, string>> = {
  './gatehouse servers add "My server"\n': "abc-MyServer\n",
};

/** Commands that run until they are stopped: the pages give each a terminal of its own. */
const LASTING = /^(npm start|\.\/gatehouse (serve|simulate)\b.*|curl -N .*)\n$/;

const PATIENCE_MS = 120_000;

afterEach(cleanUp);

type Reader = {
  /** Where the reader types. */
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** What the reader has typed before the page begins. */
  readonly before?: readonly string[];
  /** What the reader types when a command of the page asks, beside TYPED. */
  readonly typed?: Readonly<Record<string, string>>;
  /** What the reader has instead of the page's examples: another port, a real key. */
  readonly replacements: (printed: string) => Readonly<Record<string, string>>;
};

/** Follows a page from its first block to its last, and returns everything that was printed. */
async function followPage(
  page: string,
  { cwd, env = {}, before = [], typed = {}, replacements }: Reader,
): Promise<string> {
  const terminal = openTerminal(cwd, env);
  for (const text of before) await terminal.type(text);
  const lasting = new Map<string, Terminal>();
  const listPrinted = () => [...lasting.values(), terminal].map(({ printed }) => printed).join("\n");

  async function follow(block: PageBlock): Promise<void> {
    const text = replaceAll(block.text, replacements(listPrinted()));
    if (block.language === "sh" && LASTING.test(text)) {
      await lasting.get(text)?.interrupt();
      const own = lasting.get(text) ?? openTerminal(cwd, env);
      lasting.set(text, own);
      const said = await own.start(text, text.startsWith("curl") ? "event: player." : "listening on");
      const lineToTry = /^ +(curl .*)$/m.exec(said)?.[1];
      if (lineToTry !== undefined) expect(await terminal.type(`${lineToTry}\n`)).toContain('"Players":[');
    } else if (block.language === "sh") {
      await terminal.type(text, typed[text] ?? TYPED[text]);
    } else if (block.language === "text") {
      expect(listPrinted()).toContain(text);
    } else if (block.fileName !== undefined) {
      writeFileSync(join(cwd, block.fileName), text);
    } else {
      throw new Error("this block has no command, no file to save it in, and no reason in NOT_RUN");
    }
  }

  for (const block of listPageBlocks(page)) {
    if (NOT_RUN[page]?.[firstLine(block)] !== undefined) continue;
    await follow(block).catch((error: Error) => {
      throw new Error(`${block.place} does not work as printed:\n${block.text}\n${error.message}`);
    });
  }
  for (const own of lasting.values()) await own.interrupt();
  return listPrinted();
}

function replaceAll(text: string, replacements: Readonly<Record<string, string>>): string {
  return Object.entries(replacements).reduce((result, [written, used]) => result.replaceAll(written, used), text);
}

function firstLine({ text }: PageBlock): string {
  return text.slice(0, text.indexOf("\n"));
}

/** The key that a start has printed. */
function findKey(printed: string): string {
  return /API key +(gth_\w+)/.exec(printed)?.[1] ?? "(no key was printed yet)";
}

function startDiscord() {
  const posted: string[] = [];
  const discord = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      posted.push(await request.text());
      return Response.json({ id: "1" });
    },
  });
  undoLater(() => discord.stop(true));
  return { discord, posted };
}

function canRunTypeScript(): boolean {
  const { stdout } = Bun.spawnSync(["node", "--version"]);
  return Bun.semver.satisfies(stdout.toString().trim().slice(1), ">=22.18.0");
}

/** The ids of the first events that the programs of docs/events.md print, once the simulator has been read. */
async function readFirstEvents(url: string, key: string): Promise<string[]> {
  const query = "after=earliest&types=player.*,modcall.*&wait=25";
  const response = await fetch(`${url}/v2/game/server/events?${query}`, {
    headers: { Authorization: `Bearer ${key}` },
  });
  const { items } = (await response.json()) as { items: { id: string }[] };
  return items.map(({ id }) => id);
}

function withoutTime(line: string): string {
  return line.slice(line.indexOf(" ") + 1);
}

/** Compiles for the kind of package that the file is in: `await` outside of functions is an error in the one that npm init makes. */
const TSC = [
  join(ROOT, "node_modules/.bin/tsc"),
  ...["--module", "nodenext", "--target", "es2023", "--strict", "--noUncheckedIndexedAccess", "--skipLibCheck"],
  ...["--ignoreConfig", "--typeRoots", join(ROOT, "node_modules/@types"), "--types", "node"],
]
  .map((word) => `'${word}'`)
  .join(" ");

/** Node before 22.18 cannot run TypeScript, and gets it compiled; before 22 its WebSocket needs a flag. */
const NODE_FOR_TYPESCRIPT = `node() { ${TSC} "$1" && command node --experimental-websocket "\${1%.ts}.js"; }\n`;

test("a block that is only indented, or has no language, is found too", () => {
  const page = "Save it as `a.ts`:\n\n```ts\nlet a;\n```\n\nAnd\n\n    indented\n      more\n\n```\nbare\n```\n";
  expect(parseBlocks("x.md", page)).toEqual([
    { place: "x.md:4", language: "ts", text: "let a;\n", fileName: "a.ts" },
    { place: "x.md:9", language: "", text: "    indented\n      more\n", fileName: undefined },
    { place: "x.md:13", language: "", text: "bare\n", fileName: undefined },
  ]);
});

test("every block that is listed as not run is still on its page", () => {
  for (const [page, reasons] of Object.entries(NOT_RUN)) {
    const lines = listPageBlocks(page).map(firstLine);
    for (const line of Object.keys(reasons)) expect(lines).toContain(line);
  }
});

testWith(program("bash"), program("curl"), program("npm"))(
  "README.md works as printed, and so does the line that the start prints",
  async () => {
    const cwd = makeCheckout(CHECKOUT);
    const port = String(findFreePort());
    const printed = await followPage("README.md", {
      cwd,
      env: { GATEHOUSE_PORT: port },
      replacements: () => ({ "8080": port }),
    });
    // The line that the start prints, and the line of the page.
    expect(printed.match(/"Players":\[/g)).toHaveLength(2);
    expect(printed).toMatch(/\{"items":\[.*\],"next":"[\w-]+","has_more":(true|false)\}/);
  },
  PATIENCE_MS,
);

testWith(program("bash"), program("curl"), program("npm"))(
  "docs/getting-started.md works as printed, up to a game API that is not simulated by Gatehouse itself",
  async () => {
    const cwd = makeCheckout(CHECKOUT);
    const port = String(findFreePort());
    // A process of its own takes the place of the real game API.
    const gameApi = await serve({ program: CHECKOUT, cwd: makeFolder() }, ["simulate", "--port", "0"]);
    const printed = await followPage("docs/getting-started.md", {
      cwd,
      env: { GATEHOUSE_PORT: port },
      replacements: () => ({ "8080": port, "https://the-game-api.example": gameApi.url }),
    });
    expect(printed).toContain('"Players":[');
    expect(printed).toContain('"command_id":"cmd_');
    expect(printed).toContain('"Command":":h Hello"');
  },
  PATIENCE_MS,
);

testWith(
  program("bash"),
  program("curl"),
  program("npm"),
  program("node"),
  aiohttp,
)(
  "docs/bots.md works as printed after npm start alone, and its programs in a folder that npm init made",
  async () => {
    const cwd = makeCheckout();
    const gatehouse = await serve({ cwd, env: { GATEHOUSE_COMMAND_INTERVAL_MS: "50" } });
    const before = canRunTypeScript() ? [] : [NODE_FOR_TYPESCRIPT];
    const printed = await followPage("docs/bots.md", {
      cwd,
      before: [...before, `python3() { ${ASYNC_PYTHONS[0]} "$@"; }\n`],
      replacements: () => ({ "8080": String(gatehouse.port) }),
    });
    expect(printed).toContain('"sections":["Players",');
    expect(printed).toContain('"Players":[');
    expect(printed).toMatch(/X-RateLimit-Remaining: \d+/i);
    expect(printed).toMatch(/"command":":h The event starts in ten minutes","status":"\w+"/);
    // TypeScript and Python print the same.
    expect(printed.match(/: \d+ of \d+\n/g)).toHaveLength(2);
    expect(printed.match(/\S+ \(\d+\) plays for \w+/g)?.length).toBeGreaterThan(10);
    expect(printed.match(/^the command is sent$/gm)).toHaveLength(2);
    expect(JSON.parse(readFileSync(join(cwd, "answer.json"), "utf8"))).toHaveProperty("MaxPlayers");

    const own = openTerminal(makeFolder(), {
      GATEHOUSE_URL: gatehouse.url,
      GATEHOUSE_KEY: findKey(gatehouse.stdout),
    });
    for (const text of ["npm init -y\n", `cp ${cwd}/*.ts .\n`, ...before]) await own.type(text);
    for (const program of ["node", `'${process.execPath}'`]) {
      expect(await own.type(`${program} client.ts\n`)).toEndWith("the command is sent\n");
    }
    expect(await own.type(`'${process.execPath}' exact.ts\n`)).toContain("1234567890123456789n");
  },
  PATIENCE_MS,
);

testWith(program("bash"), program("curl"), program("npm"))(
  "docs/testing-your-bot.md works as printed, and its workflow's last line passes and fails with the tests",
  async () => {
    const cwd = makeCheckout();
    const printed = await followPage("docs/testing-your-bot.md", { cwd, replacements: () => ({}) });
    expect(printed).toContain("GATEHOUSE_FACADE_KEY=gth");
    expect(printed).toContain('"kind":"burst"');
    expect(printed).toContain('"calls":[');

    const workflow = listPageBlocks("docs/testing-your-bot.md").find(({ language }) => language === "yaml")?.text ?? "";
    const line = workflow.match(/^ +- run: (.* sandbox .*)$/m)?.[1]?.replace("../gatehouse/gatehouse", PROGRAM);
    const bot = openTerminal(makeFolder(), {});
    await bot.type("npm init -y\nnpm pkg set scripts.test='curl -s $GATEHOUSE_SIMULATOR_URL/_calls'\n");
    expect(await bot.type(`${line}\n`)).toContain('"calls":[');
    await bot.type("npm pkg set scripts.test='exit 3'\n");
    expect(await bot.type(`${line} || echo failed with $?\n`)).toContain("failed with 3");
  },
  PATIENCE_MS,
);

testWith(
  program("bash"),
  program("curl"),
  program("npm"),
  program("node"),
  program("python3"),
)(
  "docs/events.md and docs/history.md work as printed after npm start alone, and programs go on where they stopped",
  async () => {
    const cwd = makeCheckout();
    const gatehouse = await serve({ cwd });
    const key = findKey(gatehouse.stdout);
    const third = (await readFirstEvents(gatehouse.url, key)).at(2);
    const printed = await followPage("docs/events.md", {
      cwd,
      env: {
        // For the second terminal, in which the stream runs.
        GATEHOUSE_URL: gatehouse.url,
        GATEHOUSE_KEY: key,
      },
      before: canRunTypeScript() ? [] : [NODE_FOR_TYPESCRIPT],
      replacements: () => ({ "8080": String(gatehouse.port) }),
    });
    // The newest, those of some types, and the older page.
    expect(printed.match(/\{"items":\[\{"id":"/g)).toHaveLength(3);
    expect(printed.match(/"has_more":(true|false)\}/g)).toHaveLength(3);
    // The operator's command line.
    expect(printed).toMatch(/^\d.* player\.(joined|left|killed) .+$/m);
    // The stream, up to its first events.
    expect(printed).toMatch(
      /^retry: 2000\r?\nid: (\S+)\r?\nevent: hello\r?\ndata: \{"cursor":"\1","server_time":\d+\}\r?\n\r?\nid: (\S+)\r?\nevent: \S+\r?\ndata: \{"id":"\2"/m,
    );
    // The WebSocket prints the time as a number.
    expect(printed.match(/^\d{13} (?:player|modcall)\.\w+$/gm)).toHaveLength(5);
    // TypeScript and Python print the same events, the time in two ways. Python may have found more.
    const inTypeScript = printed.match(/^\S+Z (?:player|modcall)\.\w+ \S+$/gm)?.map(withoutTime) ?? [];
    const inPython = printed.match(/^\S+\+00:00 (?:player|modcall)\.\w+ \S+$/gm)?.map(withoutTime) ?? [];
    // The last five are those of the stream.
    const first = inTypeScript.slice(0, -5);
    expect(first.length).toBeGreaterThanOrEqual(5);
    expect(inPython.slice(0, first.length)).toEqual(first);
    expect(inTypeScript.slice(-5)).toEqual(first.slice(0, 5));
    expect(inPython.slice(-5)).toEqual(first.slice(0, 5));

    writeFileSync(join(cwd, "cursor.txt"), third ?? "");
    writeFileSync(join(cwd, "cursor-python.txt"), third ?? "");
    const again = openTerminal(cwd, { GATEHOUSE_URL: gatehouse.url, GATEHOUSE_KEY: key, COUNT: "1" });
    writeFileSync(join(cwd, "live.txt"), third ?? "");
    writeFileSync(join(cwd, "live-python.txt"), third ?? "");
    for (const program of [`'${process.execPath}' live.ts`, "python3 live.py"]) {
      expect(withoutTime((await again.type(`${program}\n`)).trimEnd())).toBe(first[3] ?? "");
    }
    for (const program of [`'${process.execPath}' follow.ts`, "python3 follow.py"]) {
      const rest = await again.type(`COUNT=${first.length - 3} ${program}\n`);
      expect(rest.trimEnd().split("\n").map(withoutTime)).toEqual(first.slice(3));
    }
    // In the same Gatehouse, which has been read for a while.
    const told = await followPage("docs/history.md", {
      cwd,
      replacements: () => ({ "8080": String(gatehouse.port) }),
    });
    expect(told).toMatch(/\{"resolution":"5m","points":\[.*"known":0\.\d+,"min":\d+,"avg":/);
    // Sessions, playtime and staff.
    expect(told.match(/\{"items":\[\{"player":"\w+:\d+","id":"\d+",/g)).toHaveLength(3);
    expect(told).toMatch(/\{"tz":"Europe\/Berlin","table":\[\[/);
    for (const title of ["AVERAGE", "JOINED", "SESSIONS", "CALLERS WAITED", "MON"]) expect(told).toContain(title);
    expect(readFileSync(join(cwd, "playtime.csv"), "utf8")).toMatch(
      /^"player","id","seconds","sessions"\r\n"\w+:\d+",/,
    );

    // The commands of pages that are mostly reference.
    copyFileSync(join(ROOT, "docs/images/map.png"), join(cwd, "map.png"));
    for (const [page, answer] of Object.entries(REFERENCE)) {
      const reader = openTerminal(cwd, { GATEHOUSE_PORT: String(gatehouse.port) });
      for (const { language, text } of listPageBlocks(page))
        if (language === "sh") await reader.type(text.replaceAll("8080", String(gatehouse.port)));
      expect([page, reader.printed]).toEqual([page, expect.stringContaining(answer)]);
    }
  },
  PATIENCE_MS,
);

/** Sends a signed message to a receiver of docs/webhooks.md, and returns the status. */
async function sendSigned(
  port: string,
  id: string,
  secrets: readonly string[],
  now = Date.now(),
  change = (body: string) => body,
): Promise<number> {
  const message = toStandardTest(id, "hook_a", "srv_a", now);
  const headers = signStandardMessage(message, secrets, now);
  const url = `http://127.0.0.1:${port}/`;
  return (await fetch(url, { method: "POST", headers, body: change(message.body) })).status;
}

testWith(program("bash"), program("curl"), program("python3"))(
  "docs/webhooks.md works as printed: its commands, and its receivers in TypeScript and Python",
  async () => {
    const cwd = makeCheckout();
    const { discord, posted } = startDiscord();
    const gatehouse = await serve({ cwd, env: { GATEHOUSE_WEBHOOKS_PRIVATE: "allow" } });
    const env = { GATEHOUSE_PORT: String(gatehouse.port) };
    const port = String(findFreePort());
    const create = "./gatehouse webhooks create --server Demo --label";
    const printed = await followPage("docs/webhooks.md", {
      cwd,
      env,
      typed: {
        [`${create} "#mod-log" --format discord --types "player.killed,modcall.*,call.*"\n`]: `${discord.url}api/webhooks/1/token\n`,
        [`${create} statistics --format standard\n`]: `http://127.0.0.1:${port}/\n`,
      },
      replacements: () => ({
        "http://127.0.0.1:8080": `http://127.0.0.1:${gatehouse.port}`,
        "https://hooks.example.org": `http://127.0.0.1:${findFreePort()}`,
      }),
    });
    expect(printed).toContain('"label":"kill log"');
    expect(printed).toContain("the receiver accepted it: 200");
    expect(posted.join("")).toContain('"embeds":[');
    const secret = printed.match(/^whsec_\S+$/gm)?.at(-1) ?? "";
    const other = writeWebhookSecret(new Uint8Array(32));
    const reader = openTerminal(cwd, env);
    for (const program of [`'${process.execPath}' receiver.mts`, "python3 receiver.py"]) {
      const receiver = openTerminal(cwd, { WEBHOOK_SECRET: secret, PORT: port });
      await receiver.start(`${program}\n`, "listening on");
      const tested = await reader.type("./gatehouse webhooks test statistics\n");
      expect([program, tested]).toEqual([program, expect.stringContaining("accepted it: 204")]);
      const fiveMinutes = 300_000;
      expect([
        await sendSigned(port, "one", [secret]),
        await sendSigned(port, "one", [secret]),
        await sendSigned(port, "two", [other, secret]),
        await sendSigned(port, "three", [other]),
        await sendSigned(port, "four", [secret], Date.now() - fiveMinutes - 5_000),
        await sendSigned(port, "five", [secret], Date.now() + fiveMinutes + 5_000),
        await sendSigned(port, "six", [secret], Date.now(), (body) => `${body} `),
        await sendSigned(port, "seven", []),
      ]).toEqual([204, 204, 204, 401, 401, 401, 401, 401]);
      // The end comes after all that it has printed.
      await receiver.interrupt();
      // The test of the command line, and each event once.
      const lines = receiver.printed.match(/^\S+Z webhook\.test \S+$/gm) ?? [];
      expect(
        lines.map((line) =>
          line
            .split(" ")
            .at(-1)
            ?.replace(/^test_.*/, "test"),
        ),
      ).toEqual(["test", "one", "two"]);
    }
  },
  PATIENCE_MS,
);

testWith(program("bash"), program("curl"), program("openssl"))(
  "docs/operating.md works as printed in a checkout that npm start has used, from nothing to two servers behind TLS",
  async () => {
    const cwd = makeCheckout();
    await stop(await serve({ cwd }));
    const ports = { "8443": String(findFreePort()), "9000": String(findFreePort()) };
    const { discord } = startDiscord();
    const printed = await followPage("docs/operating.md", {
      cwd,
      env: { GATEHOUSE_WEBHOOKS_PRIVATE: "allow" },
      typed: {
        './gatehouse webhooks create --server "North Town" --label mod-log --format discord --types "player.killed,modcall.*"\n': `${discord.url}api/webhooks/1/token\n`,
      },
      replacements: () => ports,
    });
    expect(printed).toContain("North Town");
    expect(printed).toContain('"status":"queued"');
    expect(printed).toContain("key.revoked");
    expect(printed).toMatch(/https:\/\/\S+\/#\/invitation\/gti_/);
    expect(printed).toContain("the receiver accepted it: 200");
  },
  PATIENCE_MS,
);
