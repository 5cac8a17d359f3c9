// Slow and stalled sockets. The test needs real time, so all cases run in parallel.
import { expect, test } from "bun:test";
import { ALL_SECTIONS_INFO, BASE_INFO, startFakeGameApi } from "../fake-game-api.ts";
import { openSocket, type RawSocket, writeRequest } from "../raw-socket.ts";
import { startGatehouse } from "../start-gatehouse.ts";

const CUT_WITHIN_MS = 15_000;
const DRIP_EVERY_MS = 500;
const SILENT_SOCKETS = 300;
/** The runtime cuts after 12 s at the latest; the test checks a little later. */
const WATCHED_MS = 12_800;
const GOOD_LATENCY_MAX_MS = 1_000;

test.concurrent("slow and silent sockets are cut within 15 s, while good clients are served", async () => {
  // Large answers, so that a stalled reader leaves some bytes in our buffers and not all in the kernel's.
  // Few elements with long texts, because an answer with very many elements is refused.
  const long = "x".repeat(4_000);
  const Players = Array.from({ length: 500 }, () => ({ ...ALL_SECTIONS_INFO.Players[0], Callsign: long }));
  const Vehicles = Array.from({ length: 400 }, () => ({ ...ALL_SECTIONS_INFO.Vehicles[0], Owner: long }));
  const api = startFakeGameApi(() => Response.json({ ...BASE_INFO, Players, Vehicles }));
  const gatehouse = await startGatehouse({ env: { GATEHOUSE_UPSTREAM_URL: api.url } });
  const server = await gatehouse.addServer();
  const slow = await gatehouse.addKey(server);
  const good = await gatehouse.addKey(server);
  const authorization = `Authorization: Bearer ${slow.token}`;
  const at = { port: gatehouse.app.port };
  const sockets: RawSocket[] = [];
  const drips: Timer[] = [];

  async function open(): Promise<RawSocket> {
    const socket = await openSocket(at);
    sockets.push(socket);
    return socket;
  }
  /** How long the server kept the connection open. */
  async function timeUntilCut(name: string, begin: (socket: RawSocket) => void): Promise<[string, number]> {
    const socket = await open();
    const openedAt = Date.now();
    begin(socket);
    await Promise.race([socket.closed, Bun.sleep(CUT_WITHIN_MS)]);
    return [name, socket.isClosed ? Date.now() - openedAt : Number.POSITIVE_INFINITY];
  }
  function drip(socket: RawSocket, start: string, piece: string): void {
    socket.write(start);
    drips.push(setInterval(() => socket.isClosed || socket.write(piece), DRIP_EVERY_MS));
  }

  try {
    const startedAt = Date.now();
    const cuts = [
      timeUntilCut("half a request line, then silence", (socket) => socket.write("GET /healthz HT")),
      timeUntilCut("a request line, byte by byte", (socket) => drip(socket, "GET /", "a")),
      timeUntilCut("headers, one at a time", (socket) => drip(socket, "GET /healthz HTTP/1.1\r\n", "X: y\r\n")),
      timeUntilCut("a header's value, byte by byte", (socket) => {
        drip(socket, "GET /healthz HTTP/1.1\r\nHost: x\r\nX: ", "y");
      }),
      timeUntilCut("a body that never comes", (socket) => {
        socket.write(writeRequest("/v2/game/server", [authorization, "Content-Length: 100"], "POST"));
      }),
      timeUntilCut("a body, byte by byte", (socket) => {
        drip(socket, writeRequest("/v2/game/server", [authorization, "Content-Length: 1000"], "POST"), "x");
      }),
      timeUntilCut("a body, chunk by chunk", (socket) => {
        drip(socket, writeRequest("/healthz", ["Transfer-Encoding: chunked"]), "1\r\nx\r\n");
      }),
      timeUntilCut("silence after an answer", (socket) => socket.write(writeRequest("/healthz"))),
      ...Array.from({ length: SILENT_SOCKETS }, () => timeUntilCut("silence from the start", () => {})),
    ];
    // Read once, so that answers are cached: the runtime closes a connection with a request behind a pending call.
    expect((await gatehouse.get("/v2/game/server", slow.token)).status).toBe(200);
    const stalled = await open();
    stalled.pause();
    stalled.write(writeRequest("/v2/game/server?Players=true&Vehicles=true", [authorization]));

    let slowestMs = 0;
    while (Date.now() - startedAt < WATCHED_MS) {
      const askedAt = Date.now();
      const response = await gatehouse.get("/v2/game/server", good.token);
      await response.text();
      expect(response.status).toBe(200);
      slowestMs = Math.max(slowestMs, Date.now() - askedAt);
      await Bun.sleep(125);
    }
    expect(slowestMs).toBeLessThan(GOOD_LATENCY_MAX_MS);

    const tooLate = (await Promise.all(cuts)).filter(([, ms]) => ms > CUT_WITHIN_MS);
    expect(tooLate).toEqual([]);
    // The bytes in the kernel's buffers can still be read; then the connection must end, without the rest of the answer.
    stalled.resume();
    await Promise.race([stalled.closed, Bun.sleep(30_000)]);
    expect(stalled.isClosed).toBe(true);
  } finally {
    for (const timer of drips) clearInterval(timer);
    for (const socket of sockets) socket.destroy();
    await gatehouse.stop();
    await api.stop();
  }
});

test.concurrent("a client that waits for a slow game API is not taken for a silent one", async () => {
  const held = Promise.withResolvers<Response>();
  const api = startFakeGameApi(() => held.promise);
  const env = { GATEHOUSE_UPSTREAM_URL: api.url, GATEHOUSE_UPSTREAM_TIMEOUT_MS: "30000" };
  const gatehouse = await startGatehouse({ env });
  const { token } = await gatehouse.addKey(await gatehouse.addServer());
  const socket = await openSocket({ port: gatehouse.app.port });
  try {
    socket.write(writeRequest("/v2/game/server", [`Authorization: Bearer ${token}`]));
    await Promise.race([socket.closed, Bun.sleep(WATCHED_MS)]);
    held.resolve(Response.json(BASE_INFO));
    const answer = await socket.readAnswer();
    expect(answer?.status).toBe(200);
  } finally {
    held.resolve(Response.json(BASE_INFO));
    socket.destroy();
    await gatehouse.stop();
    await api.stop();
  }
});
