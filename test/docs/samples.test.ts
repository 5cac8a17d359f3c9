// What holds for every sample of the pages, and for their programs on bad days: each runs as printed against a fake Gatehouse
// that fails.
import { afterAll, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { ASYNC_PYTHONS, aiohttp } from "../clients/python-at-hand.ts";
import { program, testWith } from "../needs.ts";
import { type GatehouseProcess, run, serve } from "../run-gatehouse.ts";
import { cleanUp, findFreePort, makeFolder, undoLater } from "../temporary.ts";
import { within } from "../until.ts";
import { listPageBlocks, ROOT } from "./page-blocks.ts";

const PATIENCE_MS = 60_000;

// Not after each test: the programs wait for seconds, as they are printed, so their tests run at the same time.
afterAll(cleanUp);

const listPages = (folder: string) =>
  readdirSync(join(ROOT, folder))
    .filter((file) => file.endsWith(".md"))
    .map((file) => join(folder, file));
const PAGES = [
  "README.md",
  ...listPages("docs"),
  "examples/discord-bot/README.md",
  "examples/discord-bot-python/README.md",
  "packages/client/README.md",
  "packages/python/README.md",
];

describe.each(PAGES)("%s", (page) => {
  const text = readFileSync(join(ROOT, page), "utf8");
  const commands = listPageBlocks(page).filter(({ language }) => language === "sh");

  test("has ./gatehouse wherever a reader could copy it, or says at its top that it is about the installed program", () => {
    const top = text.slice(0, text.indexOf("\n## "));
    if (/as for\s+.{0,40}installed\s+binary.{0,20}`gatehouse`/s.test(top)) return;
    const code = [...commands.map((block) => block.text), ...(text.match(/`[^`\n]+`/g) ?? [])];
    const bare =
      /(?<![\w./-])gatehouse (?:serve|simulate|[a-z-]+ [a-z-]+|events|audit|doctor|backup|restore|migrate)\b/;
    expect(code.filter((each) => bare.test(each) && !each.includes("gatehouse listening on"))).toEqual([]);
  });

  test("has commands of plain ASCII, without words to replace that a shell would misunderstand", () => {
    const broken = commands.filter((block) => /[^\x20-\x7e\n]|<[a-z ]+>/.test(block.text));
    expect(broken.map(({ place }) => place)).toEqual([]);
  });

  test("sets each variable that its commands use", () => {
    const set = new Set<string>();
    for (const block of commands) {
      for (const [, name] of block.text.matchAll(/\b([A-Z][A-Z_]*)=/g)) set.add(name ?? "");
      for (const [, name] of block.text.matchAll(/\$\{?([A-Z][A-Z_]*)/g))
        expect([block.place, [...set]]).toEqual([block.place, expect.arrayContaining([name])]);
    }
    // Ours have one set of names, beginning with GATEHOUSE_.
    expect([...set].filter((name) => /^(KEY|URL|TOKEN|MASTER_KEY)$/.test(name))).toEqual([]);
  });
});

/** Every setting line of .env.example, without its comment sign. */
const EXAMPLE_SETTINGS = (readFileSync(join(ROOT, ".env.example"), "utf8").match(/^#GATEHOUSE_\w+=.*$/gm) ?? []).map(
  (line) => line.slice(1),
);

test(
  ".env.example with every line uncommented starts",
  async () => {
    const cwd = makeFolder();
    expect(EXAMPLE_SETTINGS.length).toBeGreaterThan(30);
    writeFileSync(join(cwd, ".env"), `${EXAMPLE_SETTINGS.join("\n")}\n`);
    // The port is set by `serve`, because 8080 may be taken.
    const gatehouse = await serve({ cwd });
    expect(gatehouse.stdout).toContain("gatehouse listening on");
  },
  PATIENCE_MS,
);

test(
  "every TypeScript program of the pages compiles under strict, with nothing but the types of Node",
  async () => {
    const folder = makeFolder();
    const blocks = PAGES.flatMap(listPageBlocks).filter(({ language }) => language === "ts");
    const files = blocks.map(({ fileName = "" }) => fileName);
    expect(files).toContain("client.ts");
    for (const { fileName = "", text } of blocks) writeFileSync(join(folder, fileName), text);
    // The kind of package that `npm init` makes: `await` outside of functions is an error in it.
    writeFileSync(join(folder, "package.json"), '{"type": "commonjs"}');
    const options = ["--noEmit", "--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes"];
    const target = ["--target", "es2023", "--lib", "es2023", "--module", "nodenext", "--skipLibCheck"];
    const types = ["--typeRoots", join(ROOT, "node_modules/@types"), "--types", "node"];
    const tsc = join(ROOT, "node_modules/.bin/tsc");
    // One by one: they are programs of their own that have the same names.
    const compile = (file: string) =>
      Bun.spawn([tsc, ...options, ...target, ...types, file], { cwd: folder, stdin: "ignore" });
    for (const file of files) expect([file, await compile(file).stdout.text()]).toEqual([file, ""]);
  },
  PATIENCE_MS,
);

type Answer = (request: IncomingMessage, body: string, response: ServerResponse) => void;

/** A fake Gatehouse on this port. The first answer is for the first request, the last one for all that follow. */
async function startFake(answers: readonly Answer[], port = 0) {
  const requests: { readonly url: string; readonly at: number; readonly key: string | undefined }[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const key = request.headers["idempotency-key"];
    requests.push({
      url: request.url ?? "",
      at: performance.now(),
      key: key === undefined ? key : String(key),
    });
    answers[Math.min(requests.length, answers.length) - 1]?.(request, body, response);
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  undoLater(() => {
    server.close();
    server.closeAllConnections();
  });
  // A slash at the end, as people write it.
  return { requests, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

const reply =
  (body: object, status = 200, headers: Record<string, string> = {}): Answer =>
  (_request, _body, response) =>
    void response.writeHead(status, headers).end(JSON.stringify(body));
const cut: Answer = (_request, _body, response) => void response.destroy();

/** A program of a page, as printed but for `edits`. TypeScript gets its types removed, for every Node. */
function start(
  page: string,
  file: string,
  env: Record<string, string>,
  edits: Record<string, string> = {},
): GatehouseProcess & { readonly cwd: string } {
  const cwd = makeFolder();
  let text = listPageBlocks(page).find(({ fileName }) => fileName === file)?.text ?? "";
  for (const [printed, used] of Object.entries(edits)) {
    expect(text).toContain(printed);
    text = text.replaceAll(printed, used);
  }
  const isPython = file.endsWith(".py");
  const name = isPython ? file : file.replace(/m?ts$/, "mjs");
  writeFileSync(join(cwd, name), isPython ? text : new Bun.Transpiler({ loader: "ts" }).transformSync(text));
  // Before Node 22 its WebSocket needs a flag.
  const args = isPython ? [name] : ["--experimental-websocket", name];
  const python = text.includes("import aiohttp") ? (ASYNC_PYTHONS[0] ?? "") : "python3";
  return Object.assign(run(args, { cwd, env, program: isPython ? python : "node" }), { cwd });
}

const callerOf = (url: string, COUNT = "9") => ({ GATEHOUSE_URL: url, GATEHOUSE_KEY: "gth_a", COUNT });

const both = (name: string): [string][] => [[`${name}.ts`], [`${name}.py`]];

describe.concurrent("the programs of the pages", () => {
  describe.each(both("client"))("%s", (file) => {
    const testIt = testWith(program("node"), aiohttp);
    testIt(
      "survives broken connections, sends a command again with the same Idempotency-Key, and tells what the game said",
      async () => {
        const info = {
          Name: "Town",
          CurrentPlayers: 1,
          MaxPlayers: 2,
          Players: [{ Player: "Ann:1", Team: "Police" }, {}],
        };
        const refused = { status: "failed", upstream_message: "prohibited text" };
        const fake = await startFake([
          cut,
          reply(info),
          cut,
          reply({ code: 5106, message: "unavailable" }, 503, { "Retry-After": "1" }),
          reply({ command_id: "cmd_1" }, 202),
          reply(refused),
        ]);
        const child = start("docs/bots.md", file, callerOf(fake.url));
        expect([await within(PATIENCE_MS, child.exited, "no end"), child.stderr]).toEqual([0, ""]);
        expect(child.stdout).toContain("Ann (1) plays for Police\nsomebody (?) plays for");
        expect(child.stdout).toContain("the command is failed\nthe game says: prohibited text\n");
        const path = "/v2/game/server/command";
        const read = "/v2/game/server?Players=true";
        expect(fake.requests.map(({ url }) => url)).toEqual([read, read, path, path, path, `${path}/cmd_1`]);
        const keys = fake.requests.filter(({ url }) => url === path).map(({ key }) => key);
        expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
        expect(new Set(keys).size).toBe(1);
      },
      PATIENCE_MS,
    );

    testIt(
      "ends with the words of the game API when asking again does not help",
      async () => {
        const offline = {
          code: 5019,
          message: "game_api_error",
          upstream_code: 2002,
          upstream_message: "invalid key",
        };
        const fake = await startFake([reply(offline, 400)]);
        const child = start("docs/bots.md", file, callerOf(fake.url));
        expect(await within(PATIENCE_MS, child.exited, "no end")).toBe(1);
        expect(child.stderr).toContain("5019 game_api_error invalid key");
        expect(fake.requests).toHaveLength(1);
      },
      PATIENCE_MS,
    );
  });

  const VEHICLES = ["one", "two", "three"].map((id) => {
    return { id, type: "vehicle.spawned", at: 0, backfill: false, data: { Name: "Tractor", Owner: id } };
  });

  describe.each(both("follow"))("%s", (file) => {
    testWith(program("node"), program("python3"))(
      "takes other types, keeps its place after each event, and survives what a restart does",
      async () => {
        const page = JSON.stringify({ items: VEHICLES, next: "four", has_more: false });
        const cutInside: Answer = (_request, _body, response) => {
          response.writeHead(200, { "Content-Length": page.length }).write(page.slice(0, 40), () => response.destroy());
        };
        const fake = await startFake([cut, cutInside, (_request, _body, response) => void response.end(page)]);
        const child = start("docs/events.md", file, callerOf(fake.url, "2"), {
          "player.*,modcall.*": "vehicle.*",
        });
        expect(await within(PATIENCE_MS, child.exited, "no end")).toBe(0);
        expect(child.stdout.match(/vehicle\.spawned \{.*Tractor.*\}/g)).toHaveLength(2);
        const saved = file.endsWith(".py") ? "cursor-python.txt" : "cursor.txt";
        expect(readFileSync(join(child.cwd, saved), "utf8")).toBe("two");
        expect(
          fake.requests.every(({ url }) => url.startsWith("/v2/game/server/events?after=earliest&types=vehicle")),
        ).toBe(true);
      },
      PATIENCE_MS,
    );
  });

  const writeMessage = (id: string, event: string, data: object) =>
    `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

  describe.each(both("live"))("%s", (file) => {
    testWith(program("node"), program("python3"))(
      "waits for Retry-After, goes on where the line was cut, and takes other types",
      async () => {
        const hello = writeMessage("zero", "hello", { cursor: "zero" });
        const [first, second] = VEHICLES.map((event) => writeMessage(event.id, event.type, event));
        const limited = reply({ code: 5016, message: "rate_limit_exceeded" }, 429, { "Retry-After": "4" });
        const sendAndCut: Answer = (_request, _body, response) => {
          response.write(`${hello}${first}id: tw`, () => response.destroy());
        };
        const send: Answer = (_request, _body, response) => void response.write(`${hello}${second}`);
        const fake = await startFake([limited, sendAndCut, send]);
        const child = start("docs/events.md", file, callerOf(fake.url, "2"), {
          "player.*,modcall.*": "vehicle.*",
        });
        expect(await within(PATIENCE_MS, child.exited, "no end")).toBe(0);
        expect(child.stdout.match(/vehicle\.spawned \{.*Tractor.*\}/g)).toHaveLength(2);
        const [one, two, three] = fake.requests;
        expect((two?.at ?? 0) - (one?.at ?? 0)).toBeGreaterThan(3_900);
        expect(three?.url).toStartWith("/v2/game/server/events/stream?after=one&");
      },
      PATIENCE_MS,
    );
  });

  testWith(program("node"))(
    "socket.ts connects again when no connection could be made, and when a limit refused it",
    async () => {
      let attempts = 0;
      const server = Bun.serve({
        hostname: "127.0.0.1",
        port: 0,
        // As a proxy answers while Gatehouse is away. Some runtimes then have an error, and no close.
        fetch: (request, self) =>
          ++attempts > 1 && self.upgrade(request) ? undefined : new Response(null, { status: 503 }),
        websocket: {
          message(socket) {
            if (attempts > 2) socket.send(JSON.stringify({ op: "event", event: VEHICLES[0] }));
            else {
              socket.send('{"op":"bye","code":5016}');
              socket.close(4001);
            }
          },
        },
      });
      undoLater(() => server.stop(true));
      const child = start("docs/events.md", "socket.ts", callerOf(server.url.href, "1"), {
        "30_000": "1_000",
      });
      expect(await within(PATIENCE_MS, child.exited, "no end")).toBe(0);
      expect([child.stdout, attempts]).toEqual(["0 vehicle.spawned\n", 3]);
    },
    PATIENCE_MS,
  );

  describe.each([["receiver.mts"], ["receiver.py"]])("%s", (file) => {
    const testIt = testWith(program("node"), program("python3"));
    testIt("does not start without a secret, with which anybody could sign", async () => {
      const child = start("docs/webhooks.md", file, { PORT: "0" });
      expect(await within(PATIENCE_MS, child.exited, "no end")).toBe(1);
      expect(child.stderr).toContain("WEBHOOK_SECRET must be");
    });

    testIt("goes on after a request that was cut off", async () => {
      const port = findFreePort();
      const child = start("docs/webhooks.md", file, { PORT: String(port), WEBHOOK_SECRET: "whsec_AAAA" });
      await child.waitForLine("listening on");
      const half = connect(port, "127.0.0.1");
      half.end("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf");
      await once(half.resume(), "close");
      const { status } = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: "{}" });
      expect(status).toBe(401);
    });
  });
});
