// Events over a WebSocket through the whole app: frames, both ways to send the token, what is refused, and what ends it.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { ArchiveUnavailable } from "../../src/core/errors.ts";
import { toSectionSet } from "../../src/core/sections.ts";
import { POLL_MS } from "../../src/gateway/events/event-notifier.ts";
import { CHECK_MS } from "../../src/gateway/events/event-streams.ts";
import { GATHER_MS } from "../../src/gateway/events/server-feed.ts";
import { AUTH_MS, GUESTS_MAX, GUESTS_PER_ADDRESS_MAX } from "../../src/http/events/event-socket.ts";
import { EVENT_AT, HeldPauses, MemoryArchive, makeEvent } from "../event-archive.ts";
import { openSocket, type RawSocket, writeRequest } from "../raw-socket.ts";
import { startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";
import { type SocketFrame, SocketReader, SseReader } from "../stream-reader.ts";

const SOCKET = "/v2/game/server/events/socket";
const UPGRADE = [
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
];
const archive = new MemoryArchive();
const pauses = new HeldPauses();
const open = new Set<SocketReader>();
let gatehouse: TestGatehouse;

beforeAll(async () => {
  gatehouse = await startGatehouse({ archive, waitForEvents: pauses.pause });
});
afterEach(() => {
  for (const { socket } of open) socket.close();
  open.clear();
});
afterAll(() => gatehouse.stop());

async function makeHome(sections?: readonly string[]) {
  const server = await gatehouse.addServer({ community: "cedar" });
  const key = await gatehouse.addKey(server, sections && { sections: toSectionSet(sections) });
  return { serverId: server.serverId, key };
}

function connect(query = "", token?: string, path = SOCKET): SocketReader {
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const reader = new SocketReader(`${gatehouse.url}${path}${query}`, headers as Record<string, string>);
  open.add(reader);
  return reader;
}

/** A socket whose token is in the first frame. */
async function connectAndSend(frame: unknown, query = ""): Promise<SocketReader> {
  const reader = connect(query);
  await reader.opened;
  reader.socket.send(typeof frame === "string" ? frame : JSON.stringify(frame));
  return reader;
}

/** The answer to a request for a socket, as it is before any frame. */
async function ask(headers: readonly string[], query = "", to = gatehouse) {
  const { socket, status, code } = await openGuest("127.0.0.1", headers, query, to);
  socket.destroy();
  return [status, code] as const;
}

/** A request for a socket from another address of this machine; the connection stays open. */
async function openGuest(localAddress: string, headers: readonly string[] = UPGRADE, query = "", to = gatehouse) {
  const socket = await openSocket({ port: to.app.port, localAddress });
  socket.write(writeRequest(`${SOCKET}${query}`, headers));
  const answer = await socket.readAnswer();
  const code = JSON.parse(answer?.body || "{}").code as number | undefined;
  return { socket, status: answer?.status, code };
}

/** Asks for a socket until the server has noticed that others have gone. */
async function openWhenFree(localAddress: string) {
  for (;;) {
    const guest = await openGuest(localAddress);
    if (guest.status === 101) return guest;
    guest.socket.destroy();
  }
}

async function poll(): Promise<void> {
  pauses.end(GATHER_MS);
  await pauses.reach(POLL_MS);
  pauses.end(POLL_MS);
}

async function check(): Promise<void> {
  await pauses.reach(CHECK_MS);
  pauses.end(CHECK_MS);
}

async function expectBye(reader: SocketReader, bye: object, code: number): Promise<void> {
  expect(await reader.next()).toEqual({ op: "bye", ...bye });
  expect(await reader.closed).toBe(code);
}

function timesOf(frames: readonly SocketFrame[]): (number | undefined)[] {
  return frames.map(({ event }) => event && event.at - EVENT_AT);
}

describe("a socket", () => {
  test("with the token in the header says hello, events and heartbeats", async () => {
    const { serverId, key } = await makeHome();
    await archive.add(serverId, makeEvent(1));
    const reader = connect("?after=earliest", key.token);
    const [hello, first] = await reader.take(2);
    expect(hello).toEqual({ op: "hello", cursor: hello?.cursor ?? "", server_time: gatehouse.clock.now });
    expect(first).toMatchObject({ op: "event", event: { type: "player.killed", at: EVENT_AT + 1 } });
    await archive.add(serverId, makeEvent(2), makeEvent(3));
    await poll();
    const [second, third] = await reader.take(2);
    expect(timesOf([second ?? { op: "" }, third ?? { op: "" }])).toEqual([2, 3]);
    gatehouse.clock.advance(15_000);
    await check();
    expect(await reader.next()).toEqual({ op: "heartbeat", cursor: third?.event?.id ?? "" });
  });

  test("has the very events of the stream and of the pages, with the same cursors", async () => {
    const { serverId, key } = await makeHome();
    await archive.add(serverId, makeEvent(1), makeEvent(2, { type: "server.changed", meta: '{"before":{}}' }));
    const page = await gatehouse.get("/v2/game/server/events?after=earliest", key.token);
    const { items } = (await page.json()) as { items: object[] };
    const [, ...frames] = await connect("?after=earliest", key.token).take(3);
    const stream = await gatehouse.get("/v2/game/server/events/stream?after=earliest", key.token);
    const sse = new SseReader(stream);
    const [, ...messages] = await sse.take(3);
    await sse.cancel();
    expect(frames.map(({ event }) => event as object)).toEqual(items);
    expect(messages.map(({ data }) => data as object)).toEqual(items);
  });

  test("with the token in the first frame, which may have a place and types", async () => {
    const { serverId, key } = await makeHome();
    await archive.add(serverId, makeEvent(1), makeEvent(2, { type: "player.joined" }), makeEvent(3));
    const { token } = key;
    const frame = { op: "auth", token, after: "earliest", types: "player.killed" };
    expect(timesOf((await (await connectAndSend(frame)).take(3)).slice(1))).toEqual([1, 3]);
    const [hello, next] = await (
      await connectAndSend({ op: "auth", token }, "?after=earliest&types=player.joined")
    ).take(2);
    expect([hello?.op, next && timesOf([next])]).toEqual(["hello", [2]]);
    const listed = { op: "auth", token, after: "earliest", types: ["player.joined", "gap"] };
    expect(timesOf((await (await connectAndSend(listed)).take(2)).slice(1))).toEqual([2]);
    const own = (await (await gatehouse.get("/v2/game/key", token)).headers.get("x-ratelimit-remaining")) ?? "";
    expect(own).toBe("116");
  });

  test("works with the community form", async () => {
    const { key } = await makeHome();
    expect((await connect("", key.token, "/v2/cedar/game/server/events/socket").next())?.op).toBe("hello");
    const frame = { op: "auth", token: key.token };
    const other = connect("", undefined, "/v2/oak/game/server/events/socket");
    await other.opened;
    other.socket.send(JSON.stringify(frame));
    await expectBye(other, { code: 5009 }, 4001);
  });
});

describe("refusals", () => {
  test("of a token in the header are ordinary answers before the upgrade", async () => {
    const { key } = await makeHome(["KillLogs"]);
    const authorization = `Authorization: Bearer ${key.token}`;
    expect(await ask([...UPGRADE, "Authorization: Bearer gth_wrong"])).toEqual([401, 5008]);
    expect(await ask([...UPGRADE, "Authorization: "])).toEqual([401, 5007]);
    expect(await ask([...UPGRADE, authorization], "?after=x")).toEqual([400, 5104]);
    expect(await ask([...UPGRADE, authorization], "?types=player.joined")).toEqual([403, 5011]);
    expect(await ask([...UPGRADE, authorization], `?types=${"x,".repeat(5_000)}`)).toEqual([400, 5104]);
    expect(await ask([authorization])).toEqual([426, 5104]);
    const otherVersion = UPGRADE.map((line) => line.replace("Version: 13", "Version: 8"));
    expect(await ask([...otherVersion, authorization])).toEqual([426, 5104]);
    expect(await ask(otherVersion)).toEqual([426, 5104]);
    archive.fault = new ArchiveUnavailable("away");
    expect(await ask([...UPGRADE, authorization])).toEqual([503, 5106]);
    archive.fault = undefined;
    const bare = await startGatehouse();
    const other = await bare.addKey(await bare.addServer());
    const headers = [...UPGRADE, `Authorization: Bearer ${other.token}`];
    expect(await ask(headers, "", bare)).toEqual([501, 5110]);
    await bare.stop();
  });

  test("of a token in a frame are a bye with the code, and close 4001", async () => {
    const { key } = await makeHome(["KillLogs"]);
    const { token } = key;
    await expectBye(await connectAndSend({ op: "auth", token: "gth_wrong" }), { code: 5008 }, 4001);
    await expectBye(await connectAndSend({ op: "auth", token: "" }), { code: 5007 }, 4001);
    await expectBye(await connectAndSend({ op: "auth", token, after: "x" }), { code: 5104 }, 4001);
    await expectBye(await connectAndSend({ op: "auth", token, types: "player.joined" }), { code: 5011 }, 4001);
    for (const types of ["gap,".repeat(65), "x".repeat(2_001), Array(65).fill("gap"), []])
      await expectBye(await connectAndSend({ op: "auth", token, types }), { code: 5104 }, 4001);
    archive.fault = new ArchiveUnavailable("away");
    await expectBye(await connectAndSend({ op: "auth", token }), { code: 5106 }, 4001);
    archive.fault = undefined;
    for (let asked = 0; asked < 120; asked++) await (await gatehouse.get("/v2/game/key", token)).text();
    await expectBye(await connectAndSend({ op: "auth", token }), { code: 5016 }, 4001);
  });

  test("of a wrong token in a frame are logged with the client's address", async () => {
    const own = await startGatehouse({ env: { GATEHOUSE_TRUST_PROXY: "127.0.0.1" } });
    const reader = new SocketReader(`${own.url}${SOCKET}`, { "X-Forwarded-For": "203.0.113.7" });
    await reader.opened;
    reader.socket.send(JSON.stringify({ op: "auth", token: "gth_wrong" }));
    await reader.closed;
    expect(own.logLines.join("")).toContain('"address":"203.0.113.7"');
    await own.stop();
    // Without a proxy it is the address of the socket, which the runtime tells only before the upgrade.
    const plain = await startGatehouse();
    const direct = new SocketReader(`${plain.url}${SOCKET}`);
    await direct.opened;
    direct.socket.send(JSON.stringify({ op: "auth", token: "gth_wrong" }));
    await direct.closed;
    expect(plain.logLines.join("")).toContain('"address":"127.0.0.1"');
    await plain.stop();
  });

  test("a client that sends no token within 10 s gets bye 5007", async () => {
    const reader = connect();
    await reader.opened;
    await pauses.reach(AUTH_MS);
    pauses.end(AUTH_MS);
    await expectBye(reader, { code: 5007 }, 4001);
  });

  test("anything but one frame with a token closes with 1003, a large one with 1009", async () => {
    const { key } = await makeHome();
    const { token } = key;
    for (const frame of [
      "hello",
      "[]",
      "null",
      { op: "auth" },
      { op: "auth", token, after: 1 },
      { op: "auth", token, types: [1] },
      { op: "other", token },
    ]) {
      expect(await (await connectAndSend(frame)).closed).toBe(1003);
    }
    const binary = connect();
    await binary.opened;
    binary.socket.send(new TextEncoder().encode(JSON.stringify({ op: "auth", token })));
    expect(await binary.closed).toBe(1003);
    expect(await (await connectAndSend("x".repeat(5_000))).closed).toBe(1009);
    const twice = connect("", token);
    await twice.take(1);
    twice.socket.send(JSON.stringify({ op: "auth", token }));
    expect(await twice.closed).toBe(1003);
  });

  test("the 21st stream of a key, of both kinds together", async () => {
    const { key } = await makeHome();
    const sse = await Promise.all(
      Array.from(
        { length: 10 },
        async () => new SseReader(await gatehouse.get("/v2/game/server/events/stream", key.token)),
      ),
    );
    const sockets = Array.from({ length: 10 }, () => connect("", key.token));
    await Promise.all(sockets.map((reader) => reader.take(1)));
    await expectBye(await connectAndSend({ op: "auth", token: key.token }), { code: 5109 }, 4001);
    for (const reader of sse) await reader.cancel();
  });

  test("503 when too many sockets wait for their token, and not any more when they have gone", async () => {
    const sockets: RawSocket[] = [];
    for (let opened = 0; opened < GUESTS_MAX; opened++) {
      const localAddress = `127.0.1.${1 + Math.floor(opened / GUESTS_PER_ADDRESS_MAX)}`;
      const { socket, status } = await openGuest(localAddress);
      expect(status).toBe(101);
      sockets.push(socket);
    }
    expect(await ask(UPGRADE)).toEqual([503, 5106]);
    // A token in the header needs none of these places.
    const { key } = await makeHome();
    expect((await connect("", key.token).next())?.op).toBe("hello");
    for (const socket of sockets) socket.destroy();
    (await openWhenFree("127.0.0.1")).socket.destroy();
  });

  test("503 from an address with too many sockets that wait for their token, while other addresses are served", async () => {
    const opened = await Promise.all(Array.from({ length: 60 }, () => openGuest("127.0.0.2")));
    const answers = opened.map(({ status, code }) => `${status} ${code ?? ""}`).sort();
    expect(answers).toEqual([...Array(50).fill("101 "), ...Array(10).fill("503 5106")]);
    const other = await openGuest("127.0.0.1");
    expect(other.status).toBe(101);
    other.socket.destroy();
    // One that goes makes room for one.
    opened.find(({ status }) => status === 101)?.socket.destroy();
    const { socket } = await openWhenFree("127.0.0.2");
    expect((await openGuest("127.0.0.2")).status).toBe(503);
    for (const each of opened) each.socket.destroy();
    socket.destroy();
  });

  test("a socket that has sent its token makes room for another of its address", async () => {
    const own = await startGatehouse({ archive });
    const { token } = await own.addKey(await own.addServer());
    for (let i = 1; i < GUESTS_PER_ADDRESS_MAX; i++) {
      expect((await openGuest("127.0.0.1", UPGRADE, "", own)).status).toBe(101);
    }
    const last = new SocketReader(`${own.url}${SOCKET}`);
    await last.opened;
    expect(await ask(UPGRADE, "", own)).toEqual([503, 5106]);
    last.socket.send(JSON.stringify({ op: "auth", token }));
    expect((await last.next())?.op).toBe("hello");
    expect((await ask(UPGRADE, "", own))[0]).toBe(101);
    await own.stop();
  });

  test("addresses are those that a trusted proxy names, and an IPv6 client has its whole /64", async () => {
    const own = await startGatehouse({ archive, env: { GATEHOUSE_TRUST_PROXY: "127.0.0.1" } });
    const guestOf = (client: string) => {
      return openGuest("127.0.0.1", [...UPGRADE, `X-Forwarded-For: ${client}`], "", own);
    };
    for (let i = 1; i <= GUESTS_PER_ADDRESS_MAX; i++) {
      expect((await guestOf(`2001:db8:1:2:${i}::1`)).status).toBe(101);
    }
    expect((await guestOf("2001:db8:1:2::ffff")).status).toBe(503);
    expect((await guestOf("2001:db8:1:3::1")).status).toBe(101);
    expect((await guestOf("203.0.113.7")).status).toBe(101);
    await own.stop();
  });
});

describe("an open socket", () => {
  test("of a key that may not go on says bye and closes with 4001", async () => {
    const first = await makeHome();
    const revoked = await connectAndSend({ op: "auth", token: first.key.token });
    await revoked.take(1);
    await gatehouse.app.store.keys.revoke(first.key.keyId, gatehouse.clock.now);
    await check();
    await expectBye(revoked, { code: 5008 }, 4001);

    const second = await makeHome();
    const bound = connect("", second.key.token);
    await bound.take(1);
    await gatehouse.app.store.keys.update(second.key.keyId, { ipAllow: ["127.0.0.1"] });
    await check();
    gatehouse.clock.advance(15_000);
    await check();
    expect((await bound.next())?.op).toBe("heartbeat");
    await gatehouse.app.store.keys.update(second.key.keyId, { ipAllow: ["10.0.0.1"] });
    await check();
    await expectBye(bound, { code: 5009 }, 4001);
  });
});

test("the metrics tell open streams, events sent, why streams ended, and how far behind the slowest is", async () => {
  const own = await startGatehouse({ archive });
  const server = await own.addServer();
  const { token, keyId } = await own.addKey(server);
  const scrape = async () => {
    const text = await (await own.admin("GET", "/metrics")).text();
    return text.match(/^gatehouse_stream\S* \d+$/gm);
  };
  await archive.add(server.serverId, makeEvent(1), makeEvent(2));
  const sse = new SseReader(await own.get("/v2/game/server/events/stream?after=earliest", token));
  await sse.take(3);
  const socket = new SocketReader(`${own.url}${SOCKET}`, { Authorization: `Bearer ${token}` });
  await socket.take(1);
  expect(await scrape()).toEqual([
    'gatehouse_streams{kind="sse"} 1',
    'gatehouse_streams{kind="socket"} 1',
    "gatehouse_stream_events_sent_total 2",
    ...["reader", "key", "restart", "slow", "misuse"].map(
      (reason) => `gatehouse_streams_closed_total{reason="${reason}"} 0`,
    ),
    "gatehouse_stream_behind_events 0",
  ]);
  await own.app.store.keys.revoke(keyId, own.clock.now);
  await socket.closed;
  expect((await sse.next())?.event).toBe("bye");
  const after = await scrape();
  expect(after).toContain('gatehouse_streams{kind="sse"} 0');
  expect(after).toContain('gatehouse_streams_closed_total{reason="key"} 2');
  await own.stop();
});

test("a drain closes every socket at once with 1012, also one that has sent no token", async () => {
  const own = await startGatehouse({ archive });
  const { token } = await own.addKey(await own.addServer());
  const reader = new SocketReader(`${own.url}${SOCKET}`, { Authorization: `Bearer ${token}` });
  await reader.take(1);
  const guest = new SocketReader(`${own.url}${SOCKET}`);
  await guest.opened;
  const stopping = own.stop();
  await expectBye(reader, { reason: "restart" }, 1012);
  await expectBye(guest, { reason: "restart" }, 1012);
  await stopping;
});
