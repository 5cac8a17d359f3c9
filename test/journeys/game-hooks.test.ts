// The game's own webhooks, as the game sends them: every refusal in its order, raw bytes, repeats, and what reaches the ledger.
import { afterEach, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { ArchiveUnavailable } from "../../src/core/errors.ts";
import { startSimulator } from "../../src/simulator/simulator.ts";
import { MemoryArchive } from "../event-archive.ts";
import { BASE_INFO, type FakeGameApi, startFakeGameApi } from "../fake-game-api.ts";
import { openSocket, type RawSocket, sendRaw, writeRequest } from "../raw-socket.ts";
import { HookSigner, makeCommand, makeHookBody } from "../signed-hooks.ts";
import { FakeClock, makeTestFolder, startGatehouse, type TestGatehouse, type TestOptions } from "../start-gatehouse.ts";
import { cleanUp, undoLater } from "../temporary.ts";
import { until } from "../until.ts";

const HOOKS = "/hooks/game";
const signer = new HookSigner();
const KEY = { GATEHOUSE_GAME_PUBLIC_KEY: signer.publicKey };

afterEach(cleanUp);

async function start(options: TestOptions = {}): Promise<TestGatehouse> {
  const gatehouse = await startGatehouse({ ...options, env: { ...KEY, ...options.env } });
  undoLater(() => gatehouse.stop());
  return gatehouse;
}

function post(
  { url, clock }: TestGatehouse,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(url + HOOKS, {
    method: "POST",
    body,
    headers: { ...signer.sign(body, clock.now), ...headers },
  });
}

const at = ({ app }: TestGatehouse) => ({ port: app.port });

async function codeOf(answer: Promise<Response>): Promise<unknown> {
  const response = await answer;
  if (response.status === 204) return [204, await response.text()];
  return [response.status, ((await response.json()) as { code: number }).code];
}

type Event = { type: string; source: string; at: number; data: Record<string, unknown> };

async function readEvents({ get }: TestGatehouse, token: string, types = ""): Promise<Event[]> {
  const query = types === "" ? "" : `&types=${types}`;
  const answer = await get(`/v2/game/server/events?after=earliest&limit=500${query}`, token);
  return ((await answer.json()) as { items: Event[] }).items;
}

async function scrape({ get, masterKey }: TestGatehouse): Promise<Map<string, number>> {
  const text = await (await get("/metrics", masterKey)).text();
  const lines = text.split("\n").filter((line) => line.startsWith("gatehouse_game_webhook"));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]));
}

const OK = [204, ""];

describe("the checks, in their order", () => {
  const LARGE = "x".repeat(65_537);
  const HEX = "0".repeat(128);

  test("size, the shapes of the headers, the time, the signature, JSON; a later fault never hides an earlier one", async () => {
    const archive = new MemoryArchive();
    const gatehouse = await start({ archive });
    const { clock } = gatehouse;
    const seconds = String(clock.now / 1000);
    const far = (ms: number) => signer.sign("{", clock.now + ms);
    const cases: [string, string, Record<string, string>, unknown][] = [
      ["too large", LARGE, {}, [413, 5102]],
      ["too large, and no headers", LARGE, { "X-Signature-Ed25519": "" }, [413, 5102]],
      ["no signature", "{", { "X-Signature-Ed25519": "" }, [401, 5111]],
      ["a short one", "{", { "X-Signature-Ed25519": HEX.slice(1) }, [401, 5111]],
      ["no hex", "{", { "X-Signature-Ed25519": HEX.replace("0", "g") }, [401, 5111]],
      ["two", "{", { "X-Signature-Ed25519": `${HEX}, ${HEX}` }, [401, 5111]],
      ["no time", "{", { "X-Signature-Timestamp": "" }, [401, 5111]],
      ["a time with a fraction", "{", { "X-Signature-Timestamp": `${seconds}.0` }, [401, 5111]],
      ["a time that is no number", "{", { "X-Signature-Timestamp": "0x1" }, [401, 5111]],
      ["too old", "{", far(-301_000), [401, 5111]],
      ["too new", "{", far(301_000), [401, 5111]],
      ["old, but not too old", "{", far(-300_000), [400, 5034]],
      ["new, but not too new", "{", far(300_000), [400, 5034]],
      ["a wrong signature", "{", { "X-Signature-Ed25519": HEX }, [401, 5111]],
      ["another time than the signed one", "{", { "X-Signature-Timestamp": `${Number(seconds) - 1}` }, [401, 5111]],
      ["no JSON", "{", {}, [400, 5034]],
      ["nothing", "", {}, [400, 5034]],
      ["nested too deeply", `${"[".repeat(30_000)}${"]".repeat(30_000)}`, {}, [400, 5034]],
    ];
    for (const [name, body, headers, expected] of cases) {
      expect([name, await codeOf(post(gatehouse, body, headers))]).toEqual([name, expected]);
    }
    expect(await codeOf(post(gatehouse, new Uint8Array([0xff, 0xfe])))).toEqual([400, 5034]);
    // The archive is asked last.
    archive.fault = new ArchiveUnavailable("away");
    expect(await codeOf(post(gatehouse, "{"))).toEqual([400, 5034]);
    expect([...(await scrape(gatehouse))].filter(([name]) => name.includes("refused"))).toEqual([
      ['gatehouse_game_webhooks_refused_total{reason="too_large"}', 2],
      ['gatehouse_game_webhooks_refused_total{reason="headers"}', 7],
      ['gatehouse_game_webhooks_refused_total{reason="timestamp"}', 2],
      ['gatehouse_game_webhooks_refused_total{reason="signature"}', 2],
      ['gatehouse_game_webhooks_refused_total{reason="json"}', 7],
      ['gatehouse_game_webhooks_refused_total{reason="body"}', 0],
    ]);
  });

  test("64 KiB are not too large, and a body without a length is measured while it comes", async () => {
    const gatehouse = await start({ archive: new MemoryArchive() });
    const body = makeHookBody("Nobody").padEnd(65_536);
    expect(await codeOf(post(gatehouse, body))).toEqual(OK);
    const streamed = (text: string) =>
      fetch(gatehouse.url + HOOKS, {
        method: "POST",
        headers: signer.sign(text, gatehouse.clock.now),
        body: new ReadableStream({
          start(controller) {
            controller.enqueue(new TextEncoder().encode(text));
            controller.close();
          },
        }),
      });
    expect(await codeOf(streamed(body))).toEqual(OK);
    expect(await codeOf(streamed(`${body} `))).toEqual([413, 5102]);
  });

  test("the signature is over the bytes as they came, and hex in capitals is the same signature", async () => {
    const gatehouse = await start({ archive: new MemoryArchive() });
    const { token } = await gatehouse.addKey(await gatehouse.addServer());
    const body = `  {"events" :\n[ ${JSON.stringify(makeCommand(gatehouse.clock.now, "Päck ☃"))} ], "server":"\\u0053erver" }\r\n`;
    const headers = signer.sign(body, gatehouse.clock.now);
    const upper = headers["X-Signature-Ed25519"]?.toUpperCase() ?? "";
    expect(await codeOf(post(gatehouse, body, { "X-Signature-Ed25519": upper }))).toEqual(OK);
    expect(await codeOf(post(gatehouse, body))).toEqual(OK);
    expect(await codeOf(post(gatehouse, body, signer.sign(body.trim(), gatehouse.clock.now)))).toEqual([401, 5111]);
    expect((await readEvents(gatehouse, token)).map(({ data }) => data)).toEqual([
      { Command: "Päck ☃", Argument: "", Player: "913430532" },
    ]);
  });

  test("a key, a type or an encoding of the content is not looked at, nothing is counted, and only POST is allowed", async () => {
    const gatehouse = await start({ archive: new MemoryArchive() });
    const { token } = await gatehouse.addKey(await gatehouse.addServer());
    const body = makeHookBody("Nobody", makeCommand(gatehouse.clock.now));
    const odd = { "Content-Type": "text/plain", "Content-Encoding": "gzip" };
    for (const key of ["gth_wrong", token, gatehouse.masterKey]) {
      const answer = await post(gatehouse, body, { ...odd, Authorization: `Bearer ${key}` });
      expect(answer.status).toBe(204);
      expect([...answer.headers.keys()].filter((name) => name.startsWith("x-ratelimit"))).toEqual([]);
    }
    const read = await gatehouse.get("/v2/game/server/events", token);
    const [limit, left] = ["limit", "remaining"].map((name) => Number(read.headers.get(`x-ratelimit-${name}`)));
    expect(left).toBe(Number(limit) - 1);
    for (const method of ["GET", "HEAD", "PUT", "DELETE"]) {
      const isHead = method === "HEAD";
      const headers = isHead || method === "GET" ? [] : ["Content-Length: 0"];
      const answer = await sendRaw(at(gatehouse), writeRequest(HOOKS, headers, method), { isHead });
      expect([method, answer?.status, answer?.headers.get("allow")]).toEqual([method, 405, "POST"]);
    }
  });

  test("on the wire: size comes before the headers, pieces are put together, and a header that comes twice is refused", async () => {
    const gatehouse = await start({ archive: new MemoryArchive() });
    const { token } = await gatehouse.addKey(await gatehouse.addServer());
    const body = Buffer.from(makeHookBody("Server", makeCommand(gatehouse.clock.now, "Päck")));
    const signed = Object.entries(signer.sign(body, gatehouse.clock.now)).map((header) => header.join(": "));
    const send = async (headers: readonly string[], bytes: Uint8Array = new Uint8Array()) => {
      const request = Buffer.concat([Buffer.from(writeRequest(HOOKS, headers, "POST")), bytes]);
      const answer = await sendRaw(at(gatehouse), request);
      return [answer?.status, answer?.body ? JSON.parse(answer.body).code : undefined];
    };
    const length = `Content-Length: ${body.length}`;
    expect(await send(["Content-Length: 99999999"])).toEqual([413, 5102]);
    expect(await send([...signed, "Content-Length: 99999999"])).toEqual([413, 5102]);
    expect(await send(["Content-Length: 0"])).toEqual([401, 5111]);
    expect(await send([...signed, signed[0] ?? "", length], body)).toEqual([401, 5111]);
    expect(await send([...signed, signed[1] ?? "", length], body)).toEqual([401, 5111]);
    expect(await send([...signed, `Content-Length: ${body.length - 1}`], body.subarray(0, -1))).toEqual([401, 5111]);
    // Cut inside of a character.
    const cut = body.indexOf("ä") + 1;
    const pieces = [body.subarray(0, cut), body.subarray(cut), Buffer.alloc(0)].flatMap((piece) => {
      return [Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n")];
    });
    expect(await readEvents(gatehouse, token)).toEqual([]);
    expect(await send([...signed, "Transfer-Encoding: chunked"], Buffer.concat(pieces))).toEqual([204, undefined]);
    expect((await readEvents(gatehouse, token)).map(({ data }) => data.Command)).toEqual(["Päck"]);
  });

  test("without a setting only the game's own key is valid", async () => {
    const gatehouse = await startGatehouse();
    undoLater(() => gatehouse.stop());
    expect(await codeOf(post(gatehouse, makeHookBody("Nobody")))).toEqual([401, 5111]);
  });
});

describe("a flood of forged webhooks from one address", () => {
  type Sender = { readonly localAddress?: string; readonly forwardedFor?: (n: number) => string };
  const PROXY = { GATEHOUSE_TRUST_PROXY: "127.0.0.1" };
  const FLOOD = 300;
  const FLOOD_BYTES = 60_000;

  /** Sends everything but the last byte of the body. */
  async function begin({ app }: TestGatehouse, sender: Sender, n: number, signed: object, body: Uint8Array) {
    const { localAddress, forwardedFor } = sender;
    const socket = await openSocket({ port: app.port, ...(localAddress !== undefined && { localAddress }) });
    undoLater(() => socket.destroy());
    const headers = Object.entries(signed).map((header) => header.join(": "));
    if (forwardedFor) headers.push(`X-Forwarded-For: ${forwardedFor(n)}`);
    socket.write(writeRequest(HOOKS, [...headers, `Content-Length: ${body.length}`], "POST"));
    socket.write(body.subarray(0, -1));
    return socket;
  }

  async function finish(socket: RawSocket, body: Uint8Array): Promise<number | undefined> {
    socket.write(body.subarray(-1));
    return (await socket.readAnswer({ deadlineMs: 30_000 }))?.status;
  }

  test.each<[string, Record<string, string>, Sender, Sender]>([
    ["address", {}, { localAddress: "127.0.0.2" }, { localAddress: "127.0.0.1" }],
    ["client of a trusted proxy", PROXY, { forwardedFor: () => "203.0.113.1" }, { forwardedFor: () => "203.0.113.2" }],
    [
      "network of 64 bits",
      PROXY,
      { forwardedFor: (n) => `2001:db8:1:2::${n.toString(16)}` },
      { forwardedFor: () => "2001:db8:1:3::1" },
    ],
  ])("pushes out no genuine one from another %s, whether it came before or after", async (_, env, flooder, game) => {
    const gatehouse = await start({ archive: new MemoryArchive(), env });
    const { clock } = gatehouse;
    const genuine = Array.from({ length: 15 }, (_, n) =>
      Buffer.from(makeHookBody("Nobody", makeCommand(clock.now, `genuine ${n}`)).padEnd(10_000)),
    );
    const beginGenuine = (body: Buffer, n: number) => begin(gatehouse, game, n, signer.sign(body, clock.now), body);
    const early = await Promise.all(genuine.map(beginGenuine));
    const forged = Buffer.alloc(FLOOD_BYTES, "x");
    const headers = { ...signer.sign("", clock.now), "X-Signature-Ed25519": "0".repeat(128) };
    const flood = await Promise.all(
      Array.from({ length: FLOOD }, (_, n) => begin(gatehouse, flooder, n, headers, forged)),
    );
    // Some of the flood is given up: there is no room for all of it.
    await until("the flood was never too large", () => flood.some(({ received }) => received !== ""));
    const forgedEnds = flood.map((socket) => finish(socket, forged));
    const late = await Promise.all(genuine.map(beginGenuine));
    const statuses = await Promise.all(
      [...early, ...late].map((socket, n) => finish(socket, genuine[n % genuine.length] ?? forged)),
    );
    expect(statuses).toEqual(Array(30).fill(204));
    const refused = new Set(await Promise.all(forgedEnds));
    expect([...refused].sort()).toEqual([401, 503]);
  });
});

describe("what is recorded", () => {
  test("custom commands, calls and unknown kinds, for every server with this key, and for no other", async () => {
    const gatehouse = await start({ archive: new MemoryArchive() });
    const { clock } = gatehouse;
    const first = await gatehouse.addServer({ name: "A", serverKey: "one-Town" });
    const second = await gatehouse.addServer({ name: "B", serverKey: "two-Town" });
    const third = await gatehouse.addServer({ name: "C", serverKey: "one-Other" });
    const at = clock.now / 1000;
    const body = makeHookBody(
      "Town",
      makeCommand(clock.now, "logging", "This is a custom command."),
      { event: "Weather", timestamp: at, origin: "server", data: { rain: true } },
      {
        event: "EmergencyCallStarted",
        timestamp: at,
        origin: "server",
        data: {
          players: [],
          caller: 913430532,
          description: "hekp me",
          callNumber: 136,
          team: "Fire",
          position: [2358.7, 1180.1],
          positionDescriptor: null,
          startedAt: at,
        },
      },
    );
    expect(await codeOf(post(gatehouse, body))).toEqual(OK);
    for (const server of [first, second]) {
      const { token } = await gatehouse.addKey(server);
      const events = await readEvents(gatehouse, token);
      const about = { at: clock.now, seen_at: clock.now, source: "webhook", backfill: false };
      expect(events).toMatchObject([
        {
          ...about,
          type: "call.opened",
          data: {
            Team: "Fire",
            Caller: 913430532,
            Players: [],
            Position: [2358.7, 1180.1],
            StartedAt: at,
            CallNumber: 136,
            Description: "hekp me",
          },
        },
        {
          ...about,
          type: "custom.command",
          data: { Command: "logging", Argument: "This is a custom command.", Player: "913430532" },
        },
        { ...about, type: "custom.unknown", data: { Event: "Weather", Data: { rain: true } } },
      ]);
    }
    const { token } = await gatehouse.addKey(third);
    expect(await readEvents(gatehouse, token)).toEqual([]);
  });

  test("a new server key is known at once, and a probe, a stranger and a body that says nothing are 204", async () => {
    const gatehouse = await start({ archive: new MemoryArchive() });
    const { clock } = gatehouse;
    const server = await gatehouse.addServer({ serverKey: "one-Town" });
    const { token } = await gatehouse.addKey(server);
    const probe = {
      event: "WebhookProbe",
      timestamp: clock.now / 1000,
      origin: "global",
      data: {},
    };
    expect(await codeOf(post(gatehouse, makeHookBody("global", probe)))).toEqual(OK);
    expect(await codeOf(post(gatehouse, makeHookBody("New", makeCommand(clock.now, "early"))))).toEqual(OK);
    for (const body of ["{}", "[]", "7", '{"server":"New","events":[null,1,{"event":2}]}']) {
      expect(await codeOf(post(gatehouse, body))).toEqual(OK);
    }
    await gatehouse.admin("PATCH", `/admin/servers/${server.serverId}`, { server_key: "one-New" });
    expect(await codeOf(post(gatehouse, makeHookBody("New", makeCommand(clock.now, "late"))))).toEqual(OK);
    expect((await readEvents(gatehouse, token)).map(({ data }) => data.Command)).toEqual(["late"]);
    const metrics = await scrape(gatehouse);
    const outcome = (name: string) => metrics.get(`gatehouse_game_webhooks_total{outcome="${name}"}`);
    expect(["probe", "unknown_server", "recorded", "empty"].map(outcome)).toEqual([1, 1, 1, 4]);
    expect(metrics.get("gatehouse_game_webhook_events_dropped_total")).toBe(3);
  });

  test("a signature that was seen before records nothing, also after a restart", async () => {
    const folder = makeTestFolder();
    undoLater(() => rmSync(folder, { recursive: true, force: true }));
    const clock = new FakeClock();
    const options = { folder, clock, env: { ...KEY, GATEHOUSE_ARCHIVE: "sqlite" } };
    const body = makeHookBody("Server", makeCommand(clock.now));
    const headers = signer.sign(body, clock.now);
    const first = await startGatehouse(options);
    const { token } = await first.addKey(await first.addServer());
    for (let n = 0; n < 3; n++) expect(await codeOf(post(first, body, headers))).toEqual(OK);
    await first.stop();
    const second = await startGatehouse(options);
    undoLater(() => second.stop());
    clock.advance(299_000);
    expect(await codeOf(post(second, body, headers))).toEqual(OK);
    expect(await readEvents(second, token, "custom.*")).toHaveLength(1);
    const repeated = 'gatehouse_game_webhooks_total{outcome="repeated"}';
    expect((await scrape(second)).get(repeated)).toBe(1);
    clock.advance(2_000);
    expect(await codeOf(post(second, body, headers))).toEqual([401, 5111]);
  });

  test("the archive away: 503, and the same webhook is recorded once when it is back; without an archive it is dropped", async () => {
    const archive = new MemoryArchive();
    const gatehouse = await start({ archive });
    const { clock } = gatehouse;
    const { token } = await gatehouse.addKey(await gatehouse.addServer());
    const body = makeHookBody("Server", makeCommand(clock.now));
    const headers = signer.sign(body, clock.now);
    archive.fault = new ArchiveUnavailable("away");
    expect(await codeOf(post(gatehouse, body, headers))).toEqual([503, 5106]);
    expect(await codeOf(post(gatehouse, makeHookBody("Nobody", makeCommand(clock.now))))).toEqual(OK);
    archive.fault = undefined;
    await until("the archive is not used again", async () => {
      return (await post(gatehouse, body, headers)).status === 204;
    });
    expect(await codeOf(post(gatehouse, body, headers))).toEqual(OK);
    expect(await readEvents(gatehouse, token, "custom.*")).toHaveLength(1);

    const bare = await start();
    await bare.addServer();
    expect(await codeOf(post(bare, makeHookBody("Server", makeCommand(bare.clock.now))))).toEqual(OK);
    expect(await codeOf(post(bare, "{"))).toEqual([400, 5034]);
    expect((await scrape(bare)).get('gatehouse_game_webhooks_total{outcome="dropped"}')).toBe(1);
  });
});

describe("together with readings", () => {
  let game: FakeGameApi;
  let calls: object[] = [];

  async function startRead(): Promise<{ gatehouse: TestGatehouse; token: string }> {
    calls = [];
    game = startFakeGameApi(() => Response.json({ ...BASE_INFO, EmergencyCalls: calls }));
    undoLater(() => game.stop());
    const gatehouse = await start({
      archive: new MemoryArchive(),
      env: { GATEHOUSE_UPSTREAM_URL: game.url, GATEHOUSE_FRESH_MS: "1" },
    });
    const { token } = await gatehouse.addKey(await gatehouse.addServer());
    return { gatehouse, token };
  }

  async function read(gatehouse: TestGatehouse, token: string): Promise<void> {
    gatehouse.clock.advance(5_000);
    const answer = await gatehouse.get("/v2/game/server?EmergencyCalls=true", token);
    expect(answer.status).toBe(200);
    await answer.text();
  }

  test("a call that comes both ways is one call, which ends with the webhook and is never opened again", async () => {
    const { gatehouse, token } = await startRead();
    const { clock } = gatehouse;
    await read(gatehouse, token);
    const startedAt = clock.now / 1000;
    const data = { team: "Fire", players: [1], callNumber: 7, startedAt, caller: null, description: "Fire!" };
    const tell = (event: string) => {
      const told = { event, timestamp: clock.now / 1000, origin: "server", data };
      return codeOf(post(gatehouse, makeHookBody("Server", told)));
    };
    expect(await tell("EmergencyCallStarted")).toEqual(OK);
    calls = [{ Team: "Fire", Players: [1], StartedAt: startedAt, CallNumber: 7, Description: "Fire!" }];
    await read(gatehouse, token);
    await read(gatehouse, token);
    expect(await tell("EmergencyCallEnded")).toEqual(OK);
    await read(gatehouse, token);
    calls = [];
    await read(gatehouse, token);
    await read(gatehouse, token);
    // Whatever the readings have said is recorded before this webhook is.
    expect(await codeOf(post(gatehouse, makeHookBody("Server", makeCommand(clock.now))))).toEqual(OK);
    const told = (await readEvents(gatehouse, token)).map(({ type, source }) => `${type} ${source}`);
    expect(told).toEqual(["call.opened webhook", "call.closed webhook", "custom.command webhook"]);
  });
});

describe("the simulator", () => {
  async function startWithSimulator(options: { readonly seed?: number } = {}) {
    const simulator = await startSimulator({ readLimit: 0, speed: 200, ...options });
    undoLater(() => simulator.stop());
    const gatehouse = await startGatehouse({
      archive: new MemoryArchive(),
      env: { GATEHOUSE_UPSTREAM_URL: simulator.url, GATEHOUSE_GAME_PUBLIC_KEY: simulator.publicKey },
    });
    undoLater(() => gatehouse.stop());
    gatehouse.clock.now = Date.now();
    const { token } = await gatehouse.addKey(await gatehouse.addServer());
    return { simulator, gatehouse, token };
  }

  test("sends a probe, custom commands and calls, which reach the ledger", async () => {
    const { simulator, gatehouse, token } = await startWithSimulator();
    simulator.sendHooks(async (headers, body) => {
      gatehouse.clock.now = Date.now();
      return (await fetch(gatehouse.url + HOOKS, { method: "POST", headers, body })).status;
    });
    expect((await gatehouse.get("/v2/game/server", token)).status).toBe(200);
    await until("not every kind of webhook came", async () => {
      const events = await readEvents(gatehouse, token, "custom.command,call.*");
      const told = new Set(events.filter(({ source }) => source === "webhook").map(({ type }) => type));
      return ["custom.command", "call.opened", "call.closed"].every((type) => told.has(type));
    });
    const metrics = await scrape(gatehouse);
    expect(metrics.get('gatehouse_game_webhooks_total{outcome="probe"}')).toBe(1);
    expect(await readEvents(gatehouse, token, "custom.unknown")).toEqual([]);
  });

  test("repeats webhooks and sends them out of order, and each command and call is recorded once", async () => {
    // With this seed the second body is late and the third comes twice.
    const { simulator, gatehouse, token } = await startWithSimulator({ seed: 72 });
    const sent: { body: string; status: number }[] = [];
    simulator.sendHooks(async (headers, body) => {
      if (sent.length === 5) return 204;
      gatehouse.clock.now = Date.now();
      const { status } = await fetch(gatehouse.url + HOOKS, { method: "POST", headers, body });
      sent.push({ body, status });
      return status;
    });
    expect((await gatehouse.get("/v2/game/server", token)).status).toBe(200);
    await until("no late body came", async () => sent.length === 5);
    expect(sent.map(({ status }) => status)).toEqual([204, 204, 204, 204, 204]);
    expect((await scrape(gatehouse)).get('gatehouse_game_webhooks_total{outcome="repeated"}')).toBe(1);
    const told = [...new Set(sent.map(({ body }) => body))].flatMap((body) => {
      return (JSON.parse(body) as { events: { event: string; timestamp: number }[] }).events;
    });
    const times = told.map(({ timestamp }) => timestamp);
    expect(times).not.toEqual(times.toSorted());
    const commands = told.filter(({ event }) => event === "CustomCommand");
    expect(await readEvents(gatehouse, token, "custom.command")).toHaveLength(commands.length);
    const calls = (await readEvents(gatehouse, token, "call.opened,call.closed")).map(({ type, data }) => {
      return `${type} ${data.Team} ${data.CallNumber} ${data.StartedAt}`;
    });
    expect(calls.length).toBeGreaterThan(0);
    expect(new Set(calls).size).toBe(calls.length);
  });

  test("of the demo tells the demo's own Gatehouse", async () => {
    // The simulator has the machine's clock.
    const clock = new FakeClock();
    clock.now = Date.now();
    const gatehouse = await startGatehouse({ archive: new MemoryArchive(), clock, sendsDemoHooks: true });
    undoLater(() => gatehouse.stop());
    const probed = 'gatehouse_game_webhooks_total{outcome="probe"}';
    await until("no probe came", async () => {
      gatehouse.clock.now = Date.now();
      return (await scrape(gatehouse)).get(probed) === 1;
    });
  });
});
