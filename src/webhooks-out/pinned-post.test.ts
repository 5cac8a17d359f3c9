// Where requests really go: to the address that was checked, over TLS with the name, and nowhere else.
import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { makeByHand } from "../../test/make-certificate.ts";
import { PRIVATE_HOSTS } from "../../test/private-hosts.ts";
import { ANSWER_BYTES_MAX, type PostRequest } from "../core/ports/post.ts";
import { createPinnedPost, type PinnedPostOptions } from "./pinned-post.ts";

const CERTIFICATE = makeByHand("hooks.example");
const SHORT_MS = 150;
/** Long enough for an answer on a busy machine. */
const ANSWERED_MS = 2_000;
/** For requests that are answered. */
const LONG_MS = 10_000;

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A server that does with each connection what the test says, and counts them. With `tls`, over TLS. */
async function listen(serve: (socket: Socket, head: string) => void, tls?: typeof CERTIFICATE) {
  const state = { port: 0, connections: 0, requests: [] as string[] };
  const sockets = new Set<Socket>();
  const accept = (socket: Socket) => {
    state.connections++;
    sockets.add(socket);
    let text = "";
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      text += bytes;
      if (!text.includes("\r\n\r\n") || text.endsWith("\r\n\r\n")) return;
      state.requests.push(text);
      serve(socket, text);
      text = "";
    });
  };
  const server: Server = tls ? createTlsServer(tls, accept) : createServer(accept);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  state.port = typeof address === "object" && address ? address.port : 0;
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return state;
}

const answer = (head: string, body = "") =>
  `HTTP/1.1 ${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

function request(url: string, changes: Partial<PostRequest> = {}): PostRequest {
  return { method: "POST", url: new URL(url), headers: { "x-a": "b" }, body: '{"a":"ж"}', ...changes };
}

function makePost(options: Partial<PinnedPostOptions> = {}) {
  return createPinnedPost({
    allowsPrivate: true,
    resolveName: async () => ["127.0.0.1"],
    deadlineMs: LONG_MS,
    ...options,
  });
}

describe("a request to a receiver", () => {
  test("arrives once, as it was given, and its answer is read", async () => {
    const server = await listen((socket) => {
      socket.end(answer("429 Slow\r\nRetry-After: 7\r\nX-RateLimit-Remaining: 0\r\nX-Other: 1", "тело"));
    });
    const outcome = await makePost()(request(`http://hooks.example:${server.port}/in?a=b`));
    expect(outcome).toMatchObject({ status: 429, body: "тело", error: null });
    expect(outcome.headers["retry-after"]).toBe("7");
    expect(outcome.headers["x-ratelimit-remaining"]).toBe("0");
    expect(Object.keys(outcome.headers)).not.toContain("x-other");
    const [text = ""] = server.requests;
    expect(server.requests).toHaveLength(1);
    expect(text).toStartWith("POST /in?a=b HTTP/1.1\r\n");
    expect(text).toMatch(new RegExp(`\r\nhost: hooks\\.example:${server.port}\r\n`, "i"));
    expect(text).toMatch(/\r\nx-a: b\r\n/i);
    expect(text).toMatch(/\r\ncontent-length: 10\r\n/i);
    expect(text).toEndWith('\r\n\r\n{"a":"ж"}');
  });

  test("goes to no proxy", async () => {
    const server = await listen((socket) => socket.end(answer("204 None")));
    const proxy = await listen((socket) => socket.end(answer("204 None")));
    const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
    const before = names.map((name) => [name, process.env[name]] as const);
    for (const name of names) process.env[name] = `http://127.0.0.1:${proxy.port}`;
    try {
      const { status } = await makePost()(request(`http://hooks.example:${server.port}/`));
      // The receiver never answers a handshake.
      const secure = await makePost({ deadlineMs: 2_000 })(request(`https://hooks.example:${server.port}/`));
      expect([status, secure.status]).toEqual([204, null]);
      expect(server.connections).toBe(2);
      expect(proxy.connections).toBe(0);
    } finally {
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    }
  });

  test.each([301, 302, 303, 307, 308])("%i is the answer: no redirect is followed", async (status) => {
    const target = await listen((socket) => socket.end(answer("200 OK")));
    const server = await listen((socket) => {
      socket.end(answer(`${status} Moved\r\nLocation: http://127.0.0.1:${target.port}/`));
    });
    expect(await makePost()(request(`http://hooks.example:${server.port}/`))).toMatchObject({ status });
    expect(target.connections).toBe(0);
  });

  const HEAD = "HTTP/1.1 500 Oh\r\n";
  const CHUNKED = `${HEAD}Transfer-Encoding: chunked\r\n\r\n`;

  test.each<[string, string, string, number | null]>([
    ["a body", `${HEAD}\r\n`, "x".repeat(100), 500],
    ["headers", HEAD, "X-Header: value\r\n", 500],
    ["chunk extensions", `${CHUNKED}1`, ";name=value", 500],
    ["tiny chunks", CHUNKED, "1;a=b\r\nx\r\n", 500],
    ["trailers", `${CHUNKED}1\r\nx\r\n0\r\n`, "X-Trailer: value\r\n", 500],
    ["100 Continue", "", "HTTP/1.1 100 Continue\r\n\r\n", null],
    ["102 and 103 with headers", "", `HTTP/1.1 102 P\r\n\r\nHTTP/1.1 103 E\r\n${"A: b\r\n".repeat(9)}\r\n`, null],
    ["headers of an interim answer", "HTTP/1.1 103 E\r\n", "Link: </style.css>\r\n", null],
    ["a status line", "HTTP/1.1 ", "2", null],
  ])("%s without an end: at most 16 KiB are read, and the connection is closed", async (_, first, unit, status) => {
    for (const tls of [undefined, CERTIFICATE]) {
      const closed = Promise.withResolvers<void>();
      const block = unit.repeat(Math.ceil(65_536 / unit.length));
      const server = await listen((socket) => {
        socket.on("close", () => closed.resolve());
        socket.write(first);
        const more = () => {
          while (!socket.destroyed && socket.write(block));
        };
        socket.on("drain", more);
        more();
      }, tls);
      const post = makePost({ ca: CERTIFICATE.cert });
      const outcome = await post(request(`${tls ? "https" : "http"}://hooks.example:${server.port}/`));
      expect([outcome.status, outcome.error]).toEqual([status, status === null ? "protocol" : null]);
      expect(outcome.body.length).toBeLessThanOrEqual(ANSWER_BYTES_MAX);
      await closed.promise;
    }
  });

  test("a packed answer is not unpacked", async () => {
    const packed = Bun.gzipSync(Buffer.alloc(10_000_000));
    const server = await listen((socket) => {
      socket.write(`HTTP/1.1 400 No\r\nContent-Encoding: gzip\r\nContent-Length: ${packed.length}\r\n\r\n`);
      socket.end(packed);
    });
    const { status, body } = await makePost()(request(`http://hooks.example:${server.port}/`));
    expect(status).toBe(400);
    expect(body.length).toBeLessThanOrEqual(ANSWER_BYTES_MAX);
  });

  test.each<[string, (socket: Socket) => void]>([
    ["never answers", () => {}],
    ["answers a byte at a time", (socket) => void socket.write("HTTP/1.1 2")],
    ["sends only interim answers", (socket) => void socket.write("HTTP/1.1 100 Continue\r\n\r\n")],
  ])("a receiver that %s is a timeout, and its connection is closed", async (_, serve) => {
    const closed = Promise.withResolvers<void>();
    const server = await listen((socket) => {
      socket.on("close", () => closed.resolve());
      serve(socket);
    });
    const post = makePost({ deadlineMs: SHORT_MS });
    expect(await post(request(`http://hooks.example:${server.port}/`))).toMatchObject({
      status: null,
      error: "timeout",
    });
    await closed.promise;
  });

  test("a status that arrived counts, although its body does not end", async () => {
    const server = await listen((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
    });
    const post = makePost({ deadlineMs: ANSWERED_MS });
    expect(await post(request(`http://hooks.example:${server.port}/`))).toMatchObject({
      status: 200,
      body: "half",
      error: null,
    });
  });

  test("a TLS handshake and a resolver that hang are timeouts", async () => {
    const server = await listen(() => {});
    const post = makePost({ deadlineMs: SHORT_MS });
    expect(await post(request(`https://hooks.example:${server.port}/`))).toMatchObject({ error: "timeout" });
    const stuck = makePost({ deadlineMs: SHORT_MS, resolveName: () => new Promise(() => {}) });
    expect(await stuck(request("https://hooks.example/"))).toMatchObject({ error: "timeout" });
  });

  test.each<[string, (socket: Socket) => void, string]>([
    ["resets the connection", (socket) => socket.resetAndDestroy(), "connection"],
    ["closes it without an answer", (socket) => socket.end(), "connection"],
    ["answers no HTTP", (socket) => socket.end("SSH-2.0-OpenSSH\r\n\r\n"), "protocol"],
    [
      "switches protocols",
      (socket) => void socket.write("HTTP/1.1 101 Yes\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
      "protocol",
    ],
  ])("a receiver that %s is a failure", async (_, serve, error) => {
    const server = await listen(serve);
    const outcome = await makePost()(request(`http://hooks.example:${server.port}/`));
    expect([outcome.status, outcome.error]).toEqual([null, error as "connection"]);
  });

  test("nobody listening, and a name without addresses, are failures", async () => {
    const closed = await listen(() => {});
    for (const close of closers.splice(0)) close();
    expect(await makePost()(request(`http://hooks.example:${closed.port}/`))).toMatchObject({
      error: "connection",
    });
    for (const resolveName of [async () => [], () => Promise.reject(new Error("ENOTFOUND"))])
      expect(await makePost({ resolveName })(request("http://hooks.example/"))).toMatchObject({
        error: "dns",
      });
  });

  test("the next address of a name is tried when nobody listens at the first", async () => {
    const server = await listen((socket) => socket.end(answer("200 OK")));
    const post = makePost({ resolveName: async () => ["127.9.9.9", "::1", "127.0.0.1"] });
    expect(await post(request(`http://hooks.example:${server.port}/`))).toMatchObject({ status: 200 });
  });

  test("an attempt that is stopped ends at once", async () => {
    const stop = new AbortController();
    const server = await listen(() => stop.abort());
    expect(await makePost()(request(`http://hooks.example:${server.port}/`), stop.signal)).toMatchObject({
      status: null,
      error: "stopped",
    });
    expect(await makePost()(request("http://hooks.example/"), stop.signal)).toMatchObject({
      error: "stopped",
    });
  });
});

describe("TLS", () => {
  const seen: (string | null)[] = [];
  const secure = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls: CERTIFICATE,
    fetch(received) {
      seen.push(received.headers.get("host"));
      return new Response("ok", { status: 202 });
    },
  });
  afterAll(() => secure.stop(true));

  test("the certificate is checked for the name, although the connection goes to an address", async () => {
    const post = makePost({ ca: CERTIFICATE.cert });
    const { port } = secure;
    expect(await post(request(`https://hooks.example:${port}/`))).toMatchObject({ status: 202 });
    expect(seen).toEqual([`hooks.example:${port}`]);
    for (const host of ["other.example", "127.0.0.1"])
      expect(await post(request(`https://${host}:${port}/`))).toMatchObject({ status: null, error: "tls" });
  });

  test("a certificate that nobody is valid for is refused, whatever the environment says", async () => {
    const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
    try {
      expect(await makePost()(request(`https://hooks.example:${secure.port}/`))).toMatchObject({
        error: "tls",
      });
    } finally {
      if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
      else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
    }
  });
});

/** What a resolver could say of a name. */
const PRIVATE_ANSWERS = [
  ["127.0.0.1"],
  ["10.1.2.3"],
  ["169.254.169.254"],
  ["192.168.1.1"],
  ["100.64.0.1"],
  ["0.0.0.0"],
  ["::1"],
  ["::"],
  ["fd00::1"],
  ["fe80::1"],
  ["fe80::1%lo"],
  ["::ffff:127.0.0.1"],
  ["64:ff9b::7f00:1"],
  ["2002:7f00:1::"],
  ["8.8.8.8", "127.0.0.1"],
  ["2606:4700::1111", "::1"],
  ["8.8.8.8", "1.1.1.1", "9.9.9.9", "8.8.4.4", "10.0.0.1"],
  ["not an address"],
  [""],
];

describe("private addresses", () => {
  test("are refused by the sender in each of more than 60 disguises, without a connection", async () => {
    expect(PRIVATE_HOSTS.length + PRIVATE_ANSWERS.length).toBeGreaterThan(75);
    const server = await listen((socket) => socket.end(answer("200 OK")));
    const post = makePost({ allowsPrivate: false });
    for (const host of PRIVATE_HOSTS) {
      const outcome = await post(request(`https://${host}:${server.port}/`));
      expect([host, outcome.error]).toEqual([host, "private_address"]);
    }
    for (const addresses of PRIVATE_ANSWERS) {
      const named = makePost({ allowsPrivate: false, resolveName: async () => addresses });
      const outcome = await named(request(`https://hooks.example:${server.port}/`));
      expect([addresses, outcome.error]).toEqual([addresses, "private_address"]);
    }
    expect(server.connections).toBe(0);
  });

  test("are refused when a name of this machine resolves to them", async () => {
    const post = createPinnedPost({ allowsPrivate: false, deadlineMs: LONG_MS });
    for (const host of ["localhost", "LOCALHOST", "localhost."]) {
      const { error } = await post(request(`https://${host}/`));
      // A resolver may not know the last form.
      expect(["private_address", "dns"]).toContain(error ?? "");
    }
  });

  test("http is refused, even to a public address", async () => {
    const post = makePost({ allowsPrivate: false, resolveName: async () => ["8.8.8.8"] });
    expect(await post(request("http://hooks.example/"))).toMatchObject({ error: "not_https" });
  });

  test("a name that changes between the check and the connection changes nothing", async () => {
    const [checked, other] = [await listen((s) => s.end(answer("200 OK"))), await listen(() => {})];
    let asked = 0;
    // The checked address is another loopback address, so that a second lookup would be noticed.
    const post = makePost({ resolveName: async () => (asked++ === 0 ? ["127.0.0.1"] : ["127.0.0.2"]) });
    expect(await post(request(`http://hooks.example:${checked.port}/`))).toMatchObject({ status: 200 });
    expect([asked, checked.connections, other.connections]).toEqual([1, 1, 0]);
  });

  test("even localhost goes to the checked address, and is asked for at every attempt", async () => {
    // Nobody listens at localhost itself: only at the address that the resolver of the test gives.
    const served: string[] = [];
    const server = Bun.serve({
      hostname: "127.0.0.77",
      port: 0,
      fetch: (received) => {
        served.push(received.headers.get("host") ?? "");
        return new Response("ok");
      },
    });
    closers.push(() => server.stop(true));
    const names: string[] = [];
    const post = makePost({
      resolveName: async (name) => {
        names.push(name);
        return ["127.0.0.77"];
      },
    });
    for (let attempt = 0; attempt < 2; attempt++)
      expect(await post(request(`http://localhost:${server.port}/`))).toMatchObject({ status: 200 });
    expect(names).toEqual(["localhost", "localhost"]);
    expect(served).toEqual([`localhost:${server.port}`, `localhost:${server.port}`]);
  });
});
