import { afterEach, describe, expect, test } from "bun:test";
import { CommandFailed } from "../exit-codes.ts";
import type { AdminAddress } from "./admin-address.ts";
import { AdminClient } from "./admin-client.ts";

const MASTER_KEY = { key: "m".repeat(32), source: "in a test" };
const SERVERS = { path: ["servers"] };

const listening: Bun.Server<undefined>[] = [];

afterEach(async () => {
  for (const server of listening.splice(0)) await server.stop(true);
});

function listen(answer: (request: Request) => Response | Promise<Response>): string {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer });
  listening.push(server);
  return `http://127.0.0.1:${server.port}`;
}

function connect(base: string, deadlineMs?: number): AdminClient {
  const address: AdminAddress = { base, isLocal: true, trusted: [], checksName: true };
  return new AdminClient(address, MASTER_KEY, deadlineMs);
}

async function failureOf(promise: Promise<unknown>): Promise<{ message: string; exitCode: number }> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof CommandFailed)) throw new Error(`no CommandFailed: ${error}`);
  return { message: error.message, exitCode: error.exitCode };
}

describe("the client of the admin API", () => {
  test("sends the master key, and a body as JSON", async () => {
    let seen: unknown;
    const base = listen(async (request) => {
      seen = [
        request.method,
        new URL(request.url).pathname,
        request.headers.get("authorization"),
        request.headers.get("content-type"),
        await request.json(),
      ];
      return Response.json({ server_id: "srv_1" }, { status: 201 });
    });
    const answer = await connect(base).call({ ...SERVERS, method: "POST", body: { name: "Town" } });
    expect(seen).toEqual(["POST", "/admin/servers", `Bearer ${MASTER_KEY.key}`, "application/json", { name: "Town" }]);
    expect(answer).toEqual({ text: '{"server_id":"srv_1"}', body: { server_id: "srv_1" } });
  });

  test("a list is read to its end or to the limit, and no page is larger than needed", async () => {
    const queries: string[] = [];
    const base = listen((request) => {
      const query = new URL(request.url).searchParams;
      queries.push(query.toString());
      const start = Number(query.get("cursor") ?? 0);
      const end = Math.min(start + Number(query.get("limit")), 450);
      const items = Array.from({ length: end - start }, (_, index) => start + index);
      return Response.json({ items, next: end < 450 ? String(end) : null });
    });
    const all = await connect(base).list({
      path: ["keys"],
      query: { server_id: "srv_1", status: undefined },
    });
    expect(all.items).toEqual(Array.from({ length: 450 }, (_, index) => index));
    expect(all.next).toBeNull();
    expect(queries).toEqual([
      "server_id=srv_1&limit=200",
      "server_id=srv_1&limit=200&cursor=200",
      "server_id=srv_1&limit=200&cursor=400",
    ]);
    const some = await connect(base).list({ path: ["keys"] }, 201);
    expect(some.items).toHaveLength(201);
    expect(some.next).toBe("201");
  });

  test("a page that names itself as the next one is not read for ever", async () => {
    const base = listen(() => Response.json({ items: [1], next: "again" }));
    expect(await failureOf(connect(base).list(SERVERS))).toMatchObject({ exitCode: 1 });
  });

  test.each([
    [
      400,
      { code: 5104, message: "invalid_request", details: { label: "is needed", x: "is unknown" } },
      2,
      "label: is needed; x: is unknown",
    ],
    [404, { code: 5020, message: "not_found" }, 3, "no such resource"],
    [401, { code: 5006, message: "invalid_master_key" }, 4, "does not accept the master key in a test"],
    [401, { code: 5007, message: "missing_token" }, 4, "does not accept the master key"],
    [429, { code: 5107, message: "too_many_attempts", retry_after: 42 }, 4, "in 42 s"],
    [503, { code: 5106, message: "unavailable", retry_after: 1 }, 5, "in 1 s"],
    [500, { code: 5017, message: "internal_error", request_id: "req_9" }, 1, "req_9"],
    [405, { code: 5101, message: "method_not_allowed" }, 1, "method_not_allowed (5101)"],
    [400, { code: 5104, message: "m", details: { "\x1b[2J": "a\nb" } }, 2, "\\x1b[2J: a\\nb"],
    [400, "no object", 1, "does not answer like Gatehouse"],
    [200, "no object", 1, "does not answer like Gatehouse"],
    [502, "<html>", 5, "cannot reach Gatehouse"],
  ])("%p %j becomes exit code %p and a sentence", async (status, body, exitCode, words) => {
    const base = listen(() => Response.json(body, { status }));
    const failure = await failureOf(connect(base).call(SERVERS));
    expect(failure.exitCode).toBe(exitCode);
    expect(failure.message).toContain(words);
    expect(failure.message).not.toContain("\n");
    expect(failure.message).not.toContain(MASTER_KEY.key);
  });

  test("the master key is not sent to where a redirect points", async () => {
    let visits = 0;
    const elsewhere = listen(() => {
      visits += 1;
      return Response.json({});
    });
    const base = listen(() => Response.redirect(`${elsewhere}/admin/servers`, 307));
    const failure = await failureOf(connect(base).call(SERVERS));
    expect(failure.exitCode).toBe(1);
    expect(failure.message).toContain("--url");
    expect(visits).toBe(0);
  });

  test("no answer, or half of one, ends at the deadline with exit code 5", async () => {
    const silent = listen(() => new Promise<Response>(() => {}));
    const half = listen(() => new Response(new ReadableStream({ start: (controller) => controller.enqueue("{") })));
    for (const base of [silent, half]) {
      const failure = await failureOf(connect(base, 50).call(SERVERS));
      expect(failure).toEqual({ exitCode: 5, message: `${base} did not answer within 0.05 s` });
    }
  });

  test("a stream with a message that never ends is no stream of Gatehouse, and is not kept in memory", async () => {
    const headers = { "Content-Type": "text/event-stream" };
    const base = listen(() => new Response(`data: ${"x".repeat(5 * 1024 * 1024)}`, { headers }));
    const { signal } = new AbortController();
    const failure = await failureOf(Array.fromAsync(connect(base).stream(SERVERS, signal)));
    expect(failure.message).toContain("does not answer like Gatehouse");
    expect(failure.exitCode).toBe(1);
  });

  test("nothing listens: exit code 5", async () => {
    const failure = await failureOf(connect("http://127.0.0.1:1").call(SERVERS));
    expect(failure).toMatchObject({ exitCode: 5, message: expect.stringContaining("gatehouse serve") });
  });

  test.each(["", "..", ".", "a/b", "a?b", "a%2fb"])("%p is not an id, and no request is sent", async (id) => {
    let visits = 0;
    const base = listen(() => {
      visits += 1;
      return Response.json({});
    });
    const failure = await failureOf(connect(base).call({ method: "DELETE", path: ["keys", id] }));
    expect(failure.exitCode).toBe(2);
    expect(visits).toBe(0);
  });
});
