// Malformed, pipelined and interrupted requests over raw sockets.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { BASE_INFO, type FakeGameApi, startFakeGameApi } from "../fake-game-api.ts";
import { cutAnswers, openSocket, type RawAnswer, type RawSocket, sendRaw, writeRequest } from "../raw-socket.ts";
import { startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";

const PATH = "/v2/game/server";
const LIMIT = 120;
const BLOCK_COUNT = 520;
/** The kernel holds the answers to so many requests for a client that does not read meanwhile. */
const PIPELINED_AT_ONCE = 200;
/** The runtime's own answer, without a body, to bytes that are not an HTTP request. */
const RUNTIME_REFUSALS = [400, 414, 431, 505];

let api: FakeGameApi;
let gatehouse: TestGatehouse;
let at: { port: number };

beforeAll(async () => {
  api = startFakeGameApi();
  gatehouse = await startGatehouse({ env: { GATEHOUSE_UPSTREAM_URL: api.url } });
  at = { port: gatehouse.app.port };
});

afterAll(async () => {
  await gatehouse.stop();
  await api.stop();
});

/** An unused key of a server that was never read. */
async function newKey(): Promise<{ token: string; authorization: string }> {
  const { token } = await gatehouse.addKey(await gatehouse.addServer());
  return { token, authorization: `Authorization: Bearer ${token}` };
}

/** How many requests of this key were counted so far. This makes one more request. */
async function countSpent(authorization: string): Promise<number> {
  const answer = await sendRaw(at, writeRequest(PATH, [authorization]));
  expect(answer?.status).toBe(200);
  return LIMIT - Number(answer?.headers.get("x-ratelimit-remaining")) - 1;
}

function parseError(answer: { status: number; body: string } | undefined): { code: number; message: string } {
  const body: unknown = JSON.parse(answer?.body ?? "");
  if (typeof body !== "object" || body === null || !("code" in body) || !("message" in body)) {
    throw new Error(`not an error body: ${answer?.body}`);
  }
  const { code, message } = body;
  if (!Number.isInteger(code) || typeof message !== "string") throw new Error(`odd error: ${answer?.body}`);
  return { code: Number(code), message };
}

function summarize(answer: RawAnswer | undefined): string {
  if (!answer) return "no answer";
  return answer.status < 300 ? String(answer.status) : `${answer.status}/${parseError(answer).code}`;
}

describe("bytes that are not HTTP are refused, and the bytes after them are not a request", () => {
  type Make = (authorization: string, next: string) => string;
  const refused: [string, Make][] = [
    [
      "Content-Length with Transfer-Encoding",
      (a, next) => post(a, "Content-Length: 5\r\nTransfer-Encoding: chunked", `0\r\n\r\n${next}`),
    ],
    [
      "Transfer-Encoding with Content-Length",
      (a, next) => get(a, "Transfer-Encoding: chunked\r\nContent-Length: 5", `0\r\n\r\n${next}`),
    ],
    ["two different Content-Lengths", (a, next) => get(a, "Content-Length: 5\r\nContent-Length: 6", `abcdef${next}`)],
    ["a list of Content-Lengths", (a, next) => get(a, "Content-Length: 5, 5", `abcde${next}`)],
    ["a negative Content-Length", (a, next) => get(a, "Content-Length: -5", `abcde${next}`)],
    ["a Content-Length with a sign", (a, next) => get(a, "Content-Length: +5", `abcde${next}`)],
    ["a hexadecimal Content-Length", (a, next) => get(a, "Content-Length: 0x5", `abcde${next}`)],
    ["an empty Content-Length", (a, next) => get(a, "Content-Length: ", next)],
    ["a Content-Length beyond every number", (a, next) => get(a, `Content-Length: ${"9".repeat(40)}`, next)],
    ["an unknown Transfer-Encoding", (a, next) => get(a, "Transfer-Encoding: xchunked", `0\r\n\r\n${next}`)],
    [
      "chunked not being the last coding",
      (a, next) => get(a, "Transfer-Encoding: chunked, identity", `0\r\n\r\n${next}`),
    ],
    [
      "two Transfer-Encodings",
      (a, next) => get(a, "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", `0\r\n\r\n${next}`),
    ],
    ["bare line feeds throughout", (a, next) => `GET ${PATH} HTTP/1.1\nHost: x\n${a}\n\n${next}`],
    ["a bare line feed between headers", (a, next) => `GET ${PATH} HTTP/1.1\r\nHost: x\n${a}\r\n\r\n${next}`],
    ["a bare line feed at the end", (a, next) => `GET ${PATH} HTTP/1.1\r\nHost: x\r\n${a}\n\n${next}`],
    ["a bare carriage return", (a, next) => `GET ${PATH} HTTP/1.1\r\nHost: x\r${a}\r\n\r\n${next}`],
    ["a folded header", (a, next) => get(a, "X-A: b\r\n c", next)],
    ["a space before the colon", (a, next) => get(a, "X-A : b", next)],
    ["a NUL in a header", (a, next) => get(a, "X-A: b\0c", next)],
    ["a byte of 0x80 in the method", (a, next) => `G\x80T ${PATH} HTTP/1.1\r\nHost: x\r\n${a}\r\n\r\n${next}`],
    ["a parenthesis in the method", (a, next) => `G(T ${PATH} HTTP/1.1\r\nHost: x\r\n${a}\r\n\r\n${next}`],
    ["a NUL in the method", (a, next) => `G\0T ${PATH} HTTP/1.1\r\nHost: x\r\n${a}\r\n\r\n${next}`],
    ["a method in lower case", (a, next) => `get ${PATH} HTTP/1.1\r\nHost: x\r\n${a}\r\n\r\n${next}`],
    ["a method that nobody knows", (a, next) => `BREW ${PATH} HTTP/1.1\r\nHost: x\r\n${a}\r\n\r\n${next}`],
    ["a space in the target", (a, next) => `GET /v2/game/ser ver HTTP/1.1\r\nHost: x\r\n${a}\r\n\r\n${next}`],
    ["HTTP/1.1 without Host", (a, next) => `GET ${PATH} HTTP/1.1\r\n${a}\r\n\r\n${next}`],
    ["HTTP/2 in plain sight", (_, next) => `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${next}`],
    ["HTTP/0.9", (_, next) => `GET ${PATH}\r\n${next}`],
    ["a TLS greeting", (_, next) => `\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03${next}`],
    ["headers over the limit", (a, next) => get(a, `X-A: ${"a".repeat(17_000)}`, next)],
    ["more headers than the limit", (a, next) => get(a, "X-A: b\r\n".repeat(2_000).trimEnd(), next)],
    [
      "a URL over the limit",
      (a, next) => `GET ${PATH}?${"a".repeat(17_000)} HTTP/1.1\r\nHost: x\r\n${a}\r\n\r\n${next}`,
    ],
  ];

  function get(authorization: string, headers: string, rest: string): string {
    return `GET ${PATH} HTTP/1.1\r\nHost: x\r\n${authorization}\r\n${headers}\r\n\r\n${rest}`;
  }
  function post(authorization: string, headers: string, rest: string): string {
    return `POST ${PATH} HTTP/1.1\r\nHost: x\r\n${authorization}\r\n${headers}\r\n\r\n${rest}`;
  }

  test.each(refused)("%s: refused and closed, and nothing is counted", async (_, make) => {
    const { authorization } = await newKey();
    const socket = await openSocket(at);
    socket.write(make(authorization, writeRequest(PATH, [authorization])));
    const answer = await socket.readAnswer();
    if (answer) expect(RUNTIME_REFUSALS).toContain(answer.status);
    expect(await socket.readAnswer()).toBeUndefined();
    expect(socket.isClosed).toBe(true);
    expect(await countSpent(authorization)).toBe(0);
  });

  test("headers over the limit are 431", async () => {
    const answer = await sendRaw(at, writeRequest("/healthz", [`X-A: ${"a".repeat(17_000)}`]));
    expect(answer?.status).toBe(431);
  });

  test("a URL of 1 MB is refused and the connection closed", async () => {
    const socket = await openSocket(at);
    socket.write(writeRequest(`${PATH}?${"a".repeat(1024 * 1024)}`));
    // A client that is still sending when the server closes may get a reset instead of the answer.
    const answer = await socket.readAnswer();
    if (answer) expect([414, 431]).toContain(answer.status);
    await socket.closed;
    expect((await gatehouse.get("/healthz")).status).toBe(200);
  });

  test("a chunk of rubbish ends the connection, and the bytes behind it are no request", async () => {
    const { authorization } = await newKey();
    const socket = await openSocket(at);
    socket.write(post(authorization, "Transfer-Encoding: chunked", `zz\r\n${writeRequest(PATH, [authorization])}`));
    await socket.closed;
    expect(cutAnswers(Buffer.from(socket.received, "latin1")).map(({ status }) => status)).not.toContain(200);
    expect(await countSpent(authorization)).toBe(0);
  });
});

describe("the Authorization header", () => {
  test.each<[string, (token: string) => string[]]>([
    ["the same key twice", (token) => [`Authorization: Bearer ${token}`, `Authorization: Bearer ${token}`]],
    ["a key and another scheme", (token) => [`Authorization: Bearer ${token}`, "Authorization: Basic eDp5"]],
    ["another scheme and a key", (token) => ["Authorization: Basic eDp5", `Authorization: Bearer ${token}`]],
    ["two keys in one value", (token) => [`Authorization: Bearer ${token}, Bearer ${token}`]],
    ["two tokens after one scheme", (token) => [`Authorization: Bearer ${token} ${token}`]],
    ["a byte of 0xff before the token", (token) => [`Authorization: Bearer \xff${token}`]],
    ["a byte of 0x80 in the token", (token) => [`Authorization: Bearer ${token.slice(0, 20)}\x80${token.slice(21)}`]],
    ["a UTF-8 letter behind the token", (token) => [`Authorization: Bearer ${token}\xc3\xa9`]],
    ["a token of 300 characters", () => [`Authorization: Bearer ${"a".repeat(300)}`]],
    ["a token of 300 characters that begins well", (token) => [`Authorization: Bearer ${token.padEnd(300, "A")}`]],
    ["a token with one character changed", (token) => [`Authorization: Bearer ${token.slice(0, -1)}-`]],
  ])("%s: 401/5008, and nothing is counted", async (_, makeHeaders) => {
    const { token, authorization } = await newKey();
    const answer = await sendRaw(at, writeRequest(PATH, makeHeaders(token)));
    expect(summarize(answer)).toBe("401/5008");
    expect(answer?.headers.get("www-authenticate")).toBe("Bearer");
    expect(await countSpent(authorization)).toBe(0);
  });

  test.each([
    ["no header at all", []],
    ["an empty value", ["Authorization: "]],
    ["a scheme without a token", ["Authorization: Bearer"]],
    ["another scheme", ["Authorization: Basic eDp5"]],
  ])("%s: 401/5007", async (_, headers) => {
    const answer = await sendRaw(at, writeRequest(PATH, headers));
    expect(summarize(answer)).toBe("401/5007");
    expect(answer?.headers.get("www-authenticate")).toBe("Bearer");
  });
});

describe("names and numbers of parameters", () => {
  test("a header or parameter called __proto__ is ignored and pollutes nothing", async () => {
    const { authorization } = await newKey();
    const query =
      "__proto__=true&__proto__[polluted]=1&constructor=true&constructor.prototype.polluted=1&toString=true";
    const headers = [authorization, "__proto__: polluted", "constructor: polluted"];
    const answer = await sendRaw(at, writeRequest(`${PATH}?${query}`, headers));
    expect(answer?.status).toBe(200);
    expect(JSON.parse(answer?.body ?? "")).toEqual(BASE_INFO);
    expect("polluted" in {}).toBe(false);
  });

  test("as many parameters as fit into the header limit are read in bounded time", async () => {
    const { authorization } = await newKey();
    const startedAt = Date.now();
    const flood = await sendRaw(at, writeRequest(`${PATH}?${"a&".repeat(7_500)}Players=true`, [authorization]));
    expect(Date.now() - startedAt).toBeLessThan(5_000);
    expect(flood?.status).toBe(200);
    expect(Object.keys(JSON.parse(flood?.body ?? ""))).toContain("Players");
  });
});

describe("odd paths get 404/5020, or the answer of the path they mean", () => {
  test.each([
    ["/%zz", "404/5020"],
    ["/v2/%zz", "404/5020"],
    ["/v2/%E0%A4%A", "404/5020"],
    ["/v2/%E0%A4%A/game/server", "404/5020"],
    ["/v2/%ff%fe/game/server", "404/5020"],
    ["/v2/%00", "404/5020"],
    ["/v2/%00/game/server", "404/5020"],
    ["/v2/game/server%00", "404/5020"],
    ["/v2/game/server%0d%0aX-A:%20b", "404/5020"],
    ["//", "404/5020"],
    ["//v2/game/server", "404/5020"],
    ["/v2//game/server", "404/5020"],
    ["/v2/game/server//", "404/5020"],
    ["/v2/game/server/", "404/5020"],
    ["/healthz/", "404/5020"],
    ["/v2/game/server\\", "404/5020"],
    ["/v2/game/server;x", "404/5020"],
    ["/v2/game;x/server", "404/5020"],
    ["/V2/game/server", "404/5020"],
    ["/v2/Game/Server", "404/5020"],
    ["/v2/game%2fserver", "404/5020"],
    ["/v2/a%2fb/game/server", "404/5020"],
    ["/v2/..%2fv1/game/server", "404/5020"],
    [`/v2/${"a".repeat(65)}/game/server`, "404/5020"],
    ["/v2/constructor", "404/5020"],
    ["/__proto__", "404/5020"],
    ["/v2", "404/5020"],
    ["/v3/game/server", "404/5020"],
    ["/v10", "404/5020"],
    ["/v1x/game/server", "404/5020"],
    ["/../../etc/passwd", "404/5020"],
    ["/v2/game/\x80server", "404/5020"],
    ["/v2\\game\\server", "200"],
    ["/v2/./game/server", "200"],
    ["/v2/x/../game/server", "200"],
    ["/v2/game/%73erver", "200"],
    ["/v2/__proto__/game/server", "200"],
    [`/v2/${"a".repeat(64)}/game/server`, "200"],
    ["/v2/game/server?", "200"],
    ["/v2/game/server?%zz=%E0%A4%A&%00=%ff", "200"],
    ["/v2/game/server?\x80=\xff", "200"],
    ["/v2/game/server?Players=true#fragment", "200"],
    ["/v2/../v1", "500/5018"],
    ["/v2/../v1/game/server", "500/5018"],
    ["/v2/%2e%2e/v1/game/server", "500/5018"],
    ["/v1", "500/5018"],
    ["/v1/", "500/5018"],
    ["/v1/%zz", "500/5018"],
    ["/v1//", "500/5018"],
    ["/v1?x", "500/5018"],
    ["/%76%31/game/server", "500/5018"],
  ])("%s: %s", async (path, expected) => {
    const { authorization } = await newKey();
    const answer = await sendRaw(at, writeRequest(path, [authorization]));
    expect(summarize(answer)).toBe(expected);
    expect(await countSpent(authorization)).toBe(expected === "200" ? 1 : 0);
  });
});

describe("the operator's paths are served only as they are written, so that a proxy's rule for them cannot be avoided", () => {
  const askAsOperator = (path: string, host = "x") => {
    const authorization = `Authorization: Bearer ${gatehouse.masterKey}`;
    return sendRaw(at, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${authorization}\r\n\r\n`);
  };

  test.each(["/admin/servers", "/admin/servers?limit=1", "/metrics", "http://elsewhere/admin/servers"])(
    "%s: 200",
    async (path) => {
      expect((await askAsOperator(path))?.status).toBe(200);
    },
  );

  test.each([
    "/x\\..\\admin/servers",
    "/x\\..\\admin\\servers",
    "/x/..\\admin/servers",
    "/admin\\servers",
    "/x/../admin/servers",
    "/x/%2e%2e/admin/servers",
    "/x/.%2E/admin/servers",
    "/x%5c..%5cadmin/servers",
    "/x%5c../admin/servers",
    "/./admin/servers",
    "/%2e/admin/servers",
    "//admin/servers",
    "/admin//servers",
    "/%61dmin/servers",
    "/ADMIN/servers",
    "/v2/../admin/servers",
    "/v2\\..\\admin/servers",
    "http://elsewhere/x\\..\\admin/servers",
    "/x\\..\\metrics",
    "/x/../metrics",
    "/.\\metrics",
    "/%6detrics",
    "//metrics",
    "/metrics\\",
    "/metrics#x",
    "/admin/../metrics",
    "/admin/%2e%2e/metrics",
    "/admin/.%2E/metrics",
    "/admin/..\\metrics",
    "/admin/x/../../metrics",
    "/admin/1/2/3/4/5/6/../../../../../../../metrics",
    "/admin/1/2/3/4/5/6/../../../../../../servers",
    "/admin/../admin/servers",
    "/admin/x/../servers",
    "/admin/%2e%2e/admin/servers",
    "/admin/x\\..\\servers",
    "/admin/./servers",
    "/admin/%2e/servers",
    "/admin/servers/.",
    "http://elsewhere/admin/../metrics",
    "/metrics/../admin/servers",
    "/metrics/.",
  ])("%s: 404/5020, whatever Host says", async (path) => {
    for (const host of ["x", "a b"]) expect(summarize(await askAsOperator(path, host))).toBe("404/5020");
  });

  test.each(["/admin/../v2/game/server", "/admin/x\\..\\..\\v2\\game\\server", "/admin\\..\\metrics"])(
    "%s: 404/5020, because a rule that lets operators in must let nobody through to the rest",
    async (path) => {
      expect(summarize(await askAsOperator(path))).toBe("404/5020");
    },
  );
});

describe("Host and the form of the target decide nothing", () => {
  test("HTTP/1.0 without Host is answered, and the connection closed", async () => {
    const { authorization } = await newKey();
    const socket = await openSocket(at);
    socket.write(`GET ${PATH} HTTP/1.0\r\n${authorization}\r\n\r\n`);
    expect((await socket.readAnswer())?.status).toBe(200);
    await socket.closed;
  });

  test("HTTP/1.0 gets a large asynchronous body completely, without a Content-Length", async () => {
    const { authorization } = await newKey();
    const Queue = Array.from({ length: 5_000 }, (_, i) => i);
    api.answer = () => Response.json({ ...BASE_INFO, Queue });
    const socket = await openSocket(at);
    socket.write(`GET ${PATH}?Queue=true HTTP/1.0\r\n${authorization}\r\n\r\n`);
    await socket.closed;
    const [head = "", body = ""] = socket.received.split("\r\n\r\n", 2);
    expect(head).toStartWith("HTTP/1.1 200");
    expect(head).not.toContain("chunked");
    expect(JSON.parse(body)).toEqual({ ...BASE_INFO, Queue });
    api.answer = () => Response.json(BASE_INFO);
  });

  test.each([
    "",
    "a b",
    "[::1",
    "x/healthz?",
    "x/v1",
    "x#",
    "x?",
    "x\\v1",
    "user:pw@x:99999",
    "x%2f..",
    "\xff\xfe",
    "%zz",
    "a".repeat(5_000),
  ])("Host %p changes no path", async (host) => {
    const { authorization } = await newKey();
    const ask = (path: string) => sendRaw(at, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${authorization}\r\n\r\n`);
    expect(summarize(await ask(PATH))).toBe("200");
    expect(summarize(await ask("/v1/game/server"))).toBe("500/5018");
    expect(summarize(await ask("/nowhere"))).toBe("404/5020");
    // Whether the runtime resolves the dots may depend on the Host header; both answers are documented.
    expect(["404/5020", "500/5018"]).toContain(summarize(await ask("/v2/../v1/x")));
    expect(await countSpent(authorization)).toBe(1);
  });

  test.each([
    [`http://example.org${PATH}`, "200"],
    [`https://example.org:1${PATH}?Players=true`, "200"],
    [`HTTP://EXAMPLE.ORG${PATH}`, "200"],
    ["http://example.org/v1/x", "500/5018"],
    ["http://example.org/nowhere", "404/5020"],
  ])("the absolute target %s: %s", async (target, expected) => {
    const { authorization } = await newKey();
    expect(summarize(await sendRaw(at, writeRequest(target, [authorization])))).toBe(expected);
  });

  test.each([
    ["GET", "http://example.org"],
    ["GET", "ftp://example.org/healthz"],
    ["GET", "*"],
    ["OPTIONS", "*"],
    ["CONNECT", "example.org:443"],
    ["GET", "v2/game/server"],
  ])("%s %s is refused or not found, or the root, and never a fault", async (method, target) => {
    const answer = await sendRaw(at, writeRequest(target, [], method));
    if (answer) expect([200, 400, 404, 405]).toContain(answer.status);
    expect((await gatehouse.get("/healthz")).status).toBe(200);
  });
});

describe("methods", () => {
  test.each(["example.org:443", "/healthz", "/v1/x"])(
    "CONNECT %s is refused, and its connection closed: later bytes are not for a tunnel",
    async (target) => {
      const socket = await openSocket(at);
      socket.write(writeRequest(target, [], "CONNECT"));
      const answer = await socket.readAnswer();
      expect(answer?.status).toBeGreaterThanOrEqual(400);
      expect(answer?.headers.get("connection")).toBe("close");
      await socket.closed;
      socket.destroy();
    },
  );

  test.each(["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"])(
    "%s on a path that is only read: 405/5101 with Allow, before the key is checked",
    async (method) => {
      const { authorization } = await newKey();
      for (const path of [PATH, "/v2/somewhere/game/server", "/healthz", "/readyz"]) {
        for (const headers of [[], [authorization]]) {
          const answer = await sendRaw(at, writeRequest(path, headers, method));
          expect(summarize(answer)).toBe("405/5101");
          expect(answer?.headers.get("allow")).toBe("GET, HEAD");
        }
      }
      expect(await countSpent(authorization)).toBe(0);
    },
  );

  test.each(["GET", "POST", "DELETE", "OPTIONS", "TRACE"])(
    "%s under /v1: 500/5018, with or without a key",
    async (method) => {
      const { authorization } = await newKey();
      for (const headers of [[], [authorization], ["Authorization: Bearer nonsense"]]) {
        const answer = await sendRaw(at, writeRequest("/v1/game/server/command", headers, method));
        expect(summarize(answer)).toBe("500/5018");
        expect(parseError(answer).message).toBe("Endpoint устарел. Используйте более новую версию API.");
      }
      expect(await countSpent(authorization)).toBe(0);
    },
  );

  test("an unknown path is 404/5020 for every method, with and without a key", async () => {
    const { authorization } = await newKey();
    for (const method of ["GET", "POST", "OPTIONS", "DELETE"]) {
      for (const headers of [[], [authorization]]) {
        expect(summarize(await sendRaw(at, writeRequest("/v2/nowhere", headers, method)))).toBe("404/5020");
      }
    }
  });

  test("HEAD has the headers of GET, Content-Length included, and no body; and it counts", async () => {
    const { authorization } = await newKey();
    await countSpent(authorization);
    const cases: [string, string[]][] = [
      [PATH, [authorization]],
      [PATH, []],
      ["/nowhere", []],
      ["/v1/x", []],
      ["/healthz", []],
    ];
    for (const [path, headers] of cases) {
      const whole = await sendRaw(at, writeRequest(path, headers));
      const socket = await openSocket(at);
      socket.write(writeRequest(path, headers, "HEAD"));
      const head = await socket.readAnswer({ isHead: true });
      // A body would come before the next answer.
      socket.write(writeRequest("/healthz"));
      expect((await socket.readAnswer())?.body).toContain("ok");
      socket.destroy();
      expect(head?.status).toBe(whole?.status);
      expect(comparable(head)).toEqual(comparable(whole));
      expect(Number(head?.headers.get("content-length"))).toBe(Buffer.byteLength(whole?.body ?? ""));
    }
    expect(await countSpent(authorization)).toBe(3);
  });

  function comparable(answer: RawAnswer | undefined): Record<string, string> {
    const own = ["date", "x-ratelimit-remaining", "x-request-id"];
    return Object.fromEntries([...(answer?.headers ?? [])].filter(([name]) => !own.includes(name)));
  }

  test("a GET with a body is answered as one without, and the body is no request", async () => {
    const { authorization } = await newKey();
    const inner = writeRequest(PATH, [authorization]);
    const socket = await openSocket(at);
    await countSpent(authorization);
    socket.write(writeRequest(PATH, [authorization, `Content-Length: ${inner.length}`]) + inner);
    expect((await socket.readAnswer())?.status).toBe(200);
    const chunk = `${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`;
    socket.write(writeRequest(PATH, [authorization, "Transfer-Encoding: chunked"]) + chunk);
    expect((await socket.readAnswer())?.status).toBe(200);
    socket.write(writeRequest("/healthz"));
    expect((await socket.readAnswer())?.body).toContain("ok");
    socket.destroy();
    expect(await countSpent(authorization)).toBe(3);
  });

  test("two equal Content-Lengths are refused, or are one", async () => {
    const { authorization } = await newKey();
    await countSpent(authorization);
    const socket = await openSocket(at);
    socket.write(writeRequest(PATH, [authorization, "Content-Length: 5", "Content-Length: 5"]));
    socket.write(`abcde${writeRequest("/healthz")}`);
    const first = await socket.readAnswer();
    if (first?.status === 200) expect((await socket.readAnswer())?.body).toContain("ok");
    else expect(first?.status).toBe(400);
    socket.destroy();
  });
});

describe("every error is JSON with an integer code and a string message", () => {
  test("whatever was wrong", async () => {
    const server = await gatehouse.addServer({ community: "here" });
    const broken = await gatehouse.addServer({ serverKey: "broken-Server" });
    const plain = await gatehouse.addKey(server);
    const elsewhere = await gatehouse.addKey(server, { ipAllow: ["203.0.113.7"] });
    const oldVersion = await gatehouse.addKey(server, { versions: ["v1"] });
    const noSections = await gatehouse.addKey(server, { sections: 0 });
    const upstreamFault = await gatehouse.addKey(broken);
    const spent = await gatehouse.addKey(server);
    for (let i = 0; i < LIMIT; i++) await gatehouse.get(PATH, spent.token);
    api.answer = (request) =>
      request.headers.get("server-key") === "broken-Server"
        ? Response.json({ code: 9999, message: "out of date" }, { status: 500 })
        : Response.json(BASE_INFO);

    const cases: [string, string | undefined, number, number][] = [
      [PATH, undefined, 401, 5007],
      [PATH, "nonsense", 401, 5008],
      ["/nowhere", plain.token, 404, 5020],
      ["/v1/x", plain.token, 500, 5018],
      ["/v2/there/game/server", plain.token, 403, 5009],
      [PATH, elsewhere.token, 403, 5009],
      [PATH, oldVersion.token, 403, 5010],
      [`${PATH}?Players=true`, noSections.token, 403, 5011],
      [PATH, upstreamFault.token, 400, 5019],
      [PATH, spent.token, 429, 5016],
    ];
    for (const [path, token, status, code] of cases) {
      const response = await gatehouse.get(path, token);
      const body = await response.text();
      expect({ path, status: response.status, ...parseError({ status, body }) }).toMatchObject({
        path,
        status,
        code,
      });
      expect(response.headers.get("content-type")).toStartWith("application/json");
      expect(response.headers.get("content-length")).toBe(String(Buffer.byteLength(body)));
    }
  });
});

describe("the limit over real sockets", () => {
  test("1,000 parallel requests admit exactly 120; the refused carry 121 to 519 once each, then the block", async () => {
    const { authorization } = await newKey();
    const callsBefore = api.calls.length;
    const request = writeRequest(PATH, [authorization]);
    const perSocket = await Promise.all(
      Array.from({ length: 250 }, async () => {
        const socket = await openSocket(at);
        const answers: RawAnswer[] = [];
        for (let i = 0; i < 4; i++) {
          socket.write(request);
          const answer = await socket.readAnswer();
          if (answer) answers.push(answer);
        }
        socket.destroy();
        return answers;
      }),
    );
    const answers = perSocket.flat();
    expect(answers).toHaveLength(1_000);
    expectJudged(answers, 1);
    expect(api.calls.length - callsBefore).toBe(1);
  });

  test("10,000 requests pipelined on one socket, by a client that reads: each is answered, judged and counted", async () => {
    const { authorization } = await newKey();
    await countSpent(authorization);
    const socket = await openSocket(at);
    const answers: RawAnswer[] = [];
    for (let sent = 0; sent < 10_000; sent += PIPELINED_AT_ONCE) {
      socket.write(writeRequest(PATH, [authorization]).repeat(PIPELINED_AT_ONCE));
      for (let read = 0; read < PIPELINED_AT_ONCE; read++) {
        const answer = await socket.readAnswer();
        if (answer) answers.push(answer);
      }
    }
    socket.destroy();
    expect(answers).toHaveLength(10_000);
    expectJudged(answers, 2);
  });

  test("10,000 requests pipelined at once: those that get an answer are the first, and others are not affected", async () => {
    const { authorization } = await newKey();
    await countSpent(authorization);
    const socket = await openSocket(at);
    socket.write(writeRequest(PATH, [authorization]).repeat(10_000));
    socket.write(writeRequest("/healthz", ["Connection: close"]));
    await socket.closed;
    const answers = cutAnswers(Buffer.from(socket.received, "latin1"));
    const remaining = answers.slice(0, LIMIT - 1).map(({ headers }) => Number(headers.get("x-ratelimit-remaining")));
    expect(remaining).toEqual(range(LIMIT - 2, LIMIT - 1 - answers.slice(0, LIMIT - 1).length, -1));
    expect((await gatehouse.get("/healthz")).status).toBe(200);
  });

  test("requests pipelined behind one that waits are counted when answered, and other connections are not affected", async () => {
    const { authorization } = await newKey();
    const held = holdAnswers();
    const socket = await openSocket(at);
    socket.write(writeRequest(PATH, [authorization]).repeat(50));
    await held.called;
    const other = sendRaw(at, writeRequest(PATH, [authorization]));
    expect((await gatehouse.get("/healthz")).status).toBe(200);
    held.release();
    expect((await other)?.status).toBe(200);
    socket.write(writeRequest("/healthz", ["Connection: close"]));
    await socket.closed;
    const answered = cutAnswers(Buffer.from(socket.received, "latin1")).filter(({ headers }) =>
      headers.has("x-ratelimit-limit"),
    );
    const spent = await countSpent(authorization);
    expect(spent).toBeGreaterThanOrEqual(answered.length + 1);
    expect(spent).toBeLessThanOrEqual(51);
  });

  /** `firstCount` is the count of the first of these requests. The clock stands still, so all are in one window. */
  function expectJudged(answers: readonly RawAnswer[], firstCount: number): void {
    const admitted = answers.filter(({ status }) => status === 200);
    const limited = answers.filter(({ status, body }) => status === 429 && parseError({ status, body }).code === 5016);
    const blocked = answers.filter(({ status, body }) => status === 429 && parseError({ status, body }).code === 5100);
    expect(admitted.length + limited.length + blocked.length).toBe(answers.length);

    const remaining = admitted.map(({ headers }) => Number(headers.get("x-ratelimit-remaining")));
    expect(remaining.toSorted((a, b) => b - a)).toEqual(range(LIMIT - firstCount, 0, -1));

    const bodies = limited.map(
      ({ body }) => JSON.parse(body) as { details: Record<string, number>; retry_after: number },
    );
    const counts = bodies.map(({ details }) => details.count ?? 0).toSorted((a, b) => a - b);
    expect(counts).toEqual(range(LIMIT + 1, BLOCK_COUNT - 1, 1));
    for (const { details } of bodies) {
      expect(details.limit).toBe(LIMIT);
      expect(details.excess).toBe((details.count ?? 0) - LIMIT);
    }
    expect(new Set(bodies.map(({ details }) => details.reset_at)).size).toBe(1);
    expect(new Set(limited.map(({ headers }) => headers.get("x-ratelimit-remaining")))).toEqual(new Set(["0"]));

    // The first of these has the count 520 and starts the block; the others are inside the block.
    expect(blocked).toHaveLength(answers.length - (BLOCK_COUNT - firstCount));
    for (const { headers, body } of blocked) {
      expect(headers.has("retry-after")).toBe(true);
      expect(headers.has("x-ratelimit-limit")).toBe(false);
      expect(JSON.parse(body)).toMatchObject({ message: "spam_blocked", blocked_until: expect.any(Number) });
    }
  }

  function range(from: number, to: number, step: 1 | -1): number[] {
    return Array.from({ length: Math.abs(to - from) + 1 }, (_, index) => from + index * step);
  }

  test("the request with count 520, and no earlier one, gets 5100", async () => {
    const { authorization } = await newKey();
    const socket = await openSocket(at);
    let last: RawAnswer | undefined;
    for (let count = 1; count < BLOCK_COUNT; count++) {
      socket.write(writeRequest(PATH, [authorization]));
      last = await socket.readAnswer();
    }
    expect(JSON.parse(last?.body ?? "").details.count).toBe(BLOCK_COUNT - 1);
    socket.write(writeRequest(PATH, [authorization]));
    const first = await socket.readAnswer();
    socket.destroy();
    expect(summarize(first)).toBe("429/5100");
    const body = JSON.parse(first?.body ?? "");
    expect(body).toEqual({
      code: 5100,
      message: "spam_blocked",
      blocked_until: gatehouse.clock.now + 5 * 60_000,
      retry_after: 300,
    });
    expect(first?.headers.get("retry-after")).toBe("300");
  });
});

/** From now on the game API does not answer until `release`. */
function holdAnswers(): { called: Promise<void>; release: () => void } {
  const called = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  api.answer = async () => {
    called.resolve();
    await released.promise;
    return Response.json(BASE_INFO);
  };
  return {
    called: called.promise,
    release() {
      released.resolve();
      api.answer = () => Response.json(BASE_INFO);
    },
  };
}

describe("a client that goes away", () => {
  test("does not cancel the call to the game API for the others", async () => {
    const { authorization } = await newKey();
    const callsBefore = api.calls.length;
    const held = holdAnswers();
    const leaver = await openSocket(at);
    leaver.write(writeRequest(PATH, [authorization]));
    await held.called;
    const early = await openSocket(at);
    early.write(writeRequest(PATH, [authorization]));
    leaver.destroy();
    const late = await openSocket(at);
    late.write(writeRequest(PATH, [authorization]));
    // A round trip of its own shows that the disconnect and both requests have arrived.
    expect((await gatehouse.get("/healthz")).status).toBe(200);
    held.release();
    expect((await early.readAnswer())?.status).toBe(200);
    expect((await late.readAnswer())?.status).toBe(200);
    expect(api.calls.length - callsBefore).toBe(1);
    early.destroy();
    late.destroy();
    expect(await countSpent(authorization)).toBe(3);
  });

  test("leaves the reading for the next caller, even if no other caller was waiting", async () => {
    const { authorization } = await newKey();
    const held = holdAnswers();
    const leaver = await openSocket(at);
    leaver.write(writeRequest(PATH, [authorization]));
    await held.called;
    leaver.destroy();
    expect((await gatehouse.get("/healthz")).status).toBe(200);
    const callsBefore = api.calls.length;
    held.release();
    const next = await sendRaw(at, writeRequest(PATH, [authorization]));
    expect(next?.status).toBe(200);
    expect(api.calls.length).toBe(callsBefore);
  });
});

describe("X-Forwarded-For", () => {
  const CLIENT = "203.0.113.7";
  const OTHER = "198.51.100.1";

  test("is ignored when the peer is no trusted proxy", async () => {
    const server = await gatehouse.addServer();
    const far = await gatehouse.addKey(server, { ipAllow: [CLIENT] });
    const local = await gatehouse.addKey(server, { ipAllow: ["127.0.0.1"] });
    for (const name of ["X-Forwarded-For", "X-Real-IP", "Forwarded", "X-Client-IP", "CF-Connecting-IP"]) {
      const value = name === "Forwarded" ? `for=${CLIENT}` : CLIENT;
      expect((await gatehouse.get(PATH, far.token, { [name]: value })).status).toBe(403);
      expect((await gatehouse.get(PATH, local.token, { [name]: value })).status).toBe(200);
    }
  });

  test("is believed as far as trusted proxies wrote it", async () => {
    const env = { GATEHOUSE_UPSTREAM_URL: api.url, GATEHOUSE_TRUST_PROXY: "127.0.0.1, 10.0.0.0/8" };
    const behindProxy = await startGatehouse({ env });
    try {
      const server = await behindProxy.addServer();
      const { token } = await behindProxy.addKey(server, { ipAllow: [CLIENT] });
      const ask = async (...values: string[]) => {
        const headers = [`Authorization: Bearer ${token}`, ...values.map((value) => `X-Forwarded-For: ${value}`)];
        return summarize(await sendRaw({ port: behindProxy.app.port }, writeRequest(PATH, headers)));
      };
      expect(await ask(CLIENT)).toBe("200");
      expect(await ask(`::ffff:${CLIENT}`)).toBe("200");
      expect(await ask(`${OTHER}, ${CLIENT}`)).toBe("200");
      expect(await ask(`${CLIENT}, 10.1.2.3`)).toBe("200");
      expect(await ask(OTHER, CLIENT)).toBe("200");
      expect(await ask(`${CLIENT}, ${OTHER}`)).toBe("403/5009");
      expect(await ask(CLIENT, OTHER)).toBe("403/5009");
      expect(await ask(`${CLIENT}, nonsense`)).toBe("403/5009");
      expect(await ask("")).toBe("403/5009");
      expect(await ask()).toBe("403/5009");
    } finally {
      await behindProxy.stop();
    }
  });
});

describe("browsers of other origins", () => {
  const ORIGIN = "https://panel.example";
  const PREFLIGHT = ["Access-Control-Request-Method: GET", "Access-Control-Request-Headers: authorization"];

  function corsHeaders(answer: RawAnswer | undefined): string[] {
    return [...(answer?.headers.keys() ?? [])].filter((name) => name.startsWith("access-control-"));
  }

  test("get no CORS header when none is configured, and OPTIONS is 405", async () => {
    const { authorization } = await newKey();
    for (const path of [PATH, "/healthz", "/nowhere", "/v1/x"]) {
      const answer = await sendRaw(at, writeRequest(path, [authorization, `Origin: ${ORIGIN}`]));
      expect(corsHeaders(answer)).toEqual([]);
    }
    const preflight = await sendRaw(at, writeRequest(PATH, [`Origin: ${ORIGIN}`, ...PREFLIGHT], "OPTIONS"));
    expect(summarize(preflight)).toBe("405/5101");
    expect(preflight?.headers.get("allow")).toBe("GET, HEAD");
    expect(corsHeaders(preflight)).toEqual([]);
  });

  test("are admitted if they are on the list, and only then", async () => {
    const env = {
      GATEHOUSE_UPSTREAM_URL: api.url,
      GATEHOUSE_CORS_ORIGINS: `${ORIGIN}, http://localhost:3000`,
    };
    const open = await startGatehouse({ env });
    try {
      const { token } = await open.addKey(await open.addServer());
      const ask = (path: string, headers: string[], method = "GET") =>
        sendRaw({ port: open.app.port }, writeRequest(path, headers, method));
      const authorization = `Authorization: Bearer ${token}`;

      for (let i = 0; i < 2; i++) {
        const answer = await ask(PATH, [authorization, `Origin: ${ORIGIN}`]);
        expect(answer?.status).toBe(200);
        expect(answer?.headers.get("access-control-allow-origin")).toBe(ORIGIN);
        expect(answer?.headers.get("access-control-expose-headers")).toContain("X-RateLimit-Remaining");
        expect(answer?.headers.get("vary")?.match(/Origin/g)).toHaveLength(1);
        expect(answer?.headers.has("access-control-allow-credentials")).toBe(false);
      }
      const refusal = await ask(PATH, [`Origin: ${ORIGIN}`]);
      expect(summarize(refusal)).toBe("401/5007");
      expect(refusal?.headers.get("access-control-allow-origin")).toBe(ORIGIN);

      const strangers = ["https://evil.example", `${ORIGIN}.evil.example`, "https://PANEL.example:8443", "null", ""];
      for (const origin of strangers) {
        expect(corsHeaders(await ask(PATH, [authorization, `Origin: ${origin}`]))).toEqual([]);
        expect(corsHeaders(await ask(PATH, [`Origin: ${origin}`, ...PREFLIGHT], "OPTIONS"))).toEqual([]);
      }
      const preflight = await ask(PATH, [`Origin: ${ORIGIN}`, ...PREFLIGHT], "OPTIONS");
      expect(preflight?.status).toBe(204);
      expect(preflight?.headers.get("access-control-allow-origin")).toBe(ORIGIN);
      expect(preflight?.headers.get("access-control-allow-methods")).toContain("GET");
      expect(preflight?.headers.get("access-control-allow-headers")?.toLowerCase()).toContain("authorization");
      expect(summarize(await ask("/nowhere", [`Origin: ${ORIGIN}`, ...PREFLIGHT], "OPTIONS"))).toBe("404/5020");
      expect(summarize(await ask("/v1/x", [`Origin: ${ORIGIN}`, ...PREFLIGHT], "OPTIONS"))).toBe("500/5018");
    } finally {
      await open.stop();
    }
  });
});

describe("random damage", () => {
  const SEED = 20_261_115;
  const CASES = 3_000;
  const AT_ONCE = 100;
  const QUIET_MS = 60;
  const TOKENS = [
    "\r\n",
    "\n",
    "\r\n\r\n",
    "\0",
    "%",
    "?",
    "#",
    "//",
    "..",
    " ",
    "\t",
    ":",
    "\xff",
    "Content-Length: 3\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Expect: 100-continue\r\n",
    "Connection: upgrade\r\nUpgrade: websocket\r\n",
    "HTTP/1.0",
    "__proto__",
  ];

  test("3,000 mutated requests leave a service that answers, and none got an undocumented 5xx", async () => {
    const random = createRandom(SEED);
    const { token, authorization } = await newKey();
    const originals = [
      writeRequest(`${PATH}?Players=true&Staff=true`, [authorization, "Accept-Encoding: gzip", 'If-None-Match: "x"']),
      writeRequest("/v2/somewhere/game/server", [authorization, "X-Forwarded-For: 10.0.0.1"]),
      `${writeRequest(PATH, [authorization, "Content-Length: 11"], "POST")}{"a":"body"}`,
      `${writeRequest(PATH, [authorization, "Transfer-Encoding: chunked"])}3\r\nabc\r\n0\r\n\r\n`,
    ];
    const undocumented: string[] = [];
    let answered = 0;
    for (let done = 0; done < CASES; done += AT_ONCE) {
      // A new window each time, so that mutated requests are not all refused by the limit.
      gatehouse.clock.advance(61_000);
      const sent = await Promise.all(
        Array.from({ length: AT_ONCE }, async () => {
          const bytes = mutate(originals[random(originals.length)] ?? "", random);
          const socket = await openSocket(at);
          socket.write(bytes);
          return { bytes, socket };
        }),
      );
      // Its answer comes after theirs, however busy the machine is.
      expect((await gatehouse.get("/healthz", token)).status).toBe(200);
      await Promise.all(
        sent.map(async ({ bytes, socket }) => {
          for (const answer of await collectAnswers(socket)) {
            answered++;
            if (!isDocumented(answer)) undocumented.push(`${JSON.stringify(bytes)} -> ${answer.status} ${answer.body}`);
          }
        }),
      );
    }
    expect(undocumented).toEqual([]);
    expect(answered).toBeGreaterThan(CASES / 2);
    gatehouse.clock.advance(61 * 60_000);
    expect((await gatehouse.get(PATH, token)).status).toBe(200);
    expect(gatehouse.logLines.filter((line) => line.includes("unexpected failure"))).toEqual([]);
  });

  function mutate(original: string, random: (below: number) => number): string {
    let text = original;
    for (let left = 1 + random(4); left > 0; left--) {
      const from = random(text.length);
      const length = random(12);
      const piece = [
        () => String.fromCharCode(random(256)),
        () => "",
        () => TOKENS[random(TOKENS.length)] ?? "",
        () => text.slice(from, from + length).repeat(2),
        () => text.slice(random(text.length)).slice(0, 40),
      ][random(5)];
      text = text.slice(0, from) + (piece?.() ?? "") + text.slice(from + length * random(2));
    }
    return text;
  }

  /** All answers until the other side closes or sends nothing more. */
  async function collectAnswers(socket: RawSocket): Promise<RawAnswer[]> {
    const answers: RawAnswer[] = [];
    try {
      while (true) {
        const answer = await socket.readAnswer({ deadlineMs: QUIET_MS });
        if (!answer) return answers;
        answers.push(answer);
      }
    } catch (error) {
      // The server waits for the rest of a request that a mutation cut. An answer that is not HTTP is a fault.
      if (!String(error).includes("no whole answer")) throw error;
      return answers;
    } finally {
      socket.destroy();
    }
  }

  function isDocumented(answer: RawAnswer): boolean {
    if (answer.status < 400) return true;
    if (answer.body === "") return RUNTIME_REFUSALS.includes(answer.status);
    const { code } = parseError(answer);
    return answer.status < 500 || code === 5018;
  }

  /** mulberry32: small, seeded, good enough to choose bytes. */
  function createRandom(seed: number): (below: number) => number {
    let state = seed;
    return (below) => {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) % Math.max(1, below);
    };
  }
});
