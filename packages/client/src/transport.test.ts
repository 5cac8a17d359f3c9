import { describe, expect, spyOn, test } from "bun:test";
import { GatehouseError } from "./gatehouse-error.ts";
import { type Fetch, type GatehouseOptions, Transport } from "./transport.ts";

const TOKEN = "gth_secret0000000000000000000000000000";

function refuse(status: number, body: object, headers: Record<string, string> = {}): Response {
  return Response.json(body, { status, headers });
}

/** A transport whose answers come one after the other, with the waits that it made. */
function makeTransport(answers: (() => Response | Promise<Response>)[], options: Partial<GatehouseOptions> = {}) {
  const waits: number[] = [];
  const sent: { url: string; init: RequestInit }[] = [];
  const fetch: Fetch = async (url, init) => {
    sent.push({ url, init });
    const answer = answers.shift();
    if (!answer) throw new Error("there is no further answer");
    return answer();
  };
  const transport = new Transport(
    { baseUrl: "http://127.0.0.1:8080/", token: TOKEN, fetch, ...options },
    async (ms) => {
      waits.push(ms);
    },
  );
  return { transport, waits, sent };
}

function catchError(promise: Promise<unknown>): Promise<GatehouseError> {
  return promise.then(
    () => {
      throw new Error("nothing was thrown");
    },
    (error) => error as GatehouseError,
  );
}

const limited = () =>
  refuse(429, { code: 5016, message: "rate_limit_exceeded", retry_after: 60 }, { "Retry-After": "60" });
const blocked = () => refuse(429, { code: 5100, message: "spam_blocked", blocked_until: 1, retry_after: 30 });
const good = () => Response.json({ Name: "Town" }, { headers: { Age: "2" } });

describe("a 429", () => {
  test("of at most 60 s is waited for", async () => {
    const { transport, waits } = makeTransport([limited, good]);
    expect((await transport.request<object>("/x")).value).toEqual({ Name: "Town" });
    expect(waits).toEqual([60_000]);
  });

  test("is waited for only once", async () => {
    const { transport, waits } = makeTransport([limited, limited, good]);
    const error = await catchError(transport.request("/x"));
    expect(error).toBeInstanceOf(GatehouseError);
    expect(error).toMatchObject({ code: 5016, status: 429, retryAfter: 60 });
    expect(waits).toEqual([60_000]);
  });

  test("is waited for only once among the tries of a request that may be repeated", async () => {
    const away = () => refuse(503, { code: 5106, message: "unavailable", retry_after: 1 });
    const { transport, waits } = makeTransport([away, limited, away, limited, good]);
    const error = await catchError(transport.request("/x", { backoffsMs: [10, 2_000] }));
    expect(error.code).toBe(5016);
    expect(waits).toEqual([1_000, 60_000, 2_000]);
  });

  test("of more than 60 s, or of a block, is thrown at once", async () => {
    const long = () => refuse(429, { code: 5016, message: "rate_limit_exceeded", retry_after: 61 });
    for (const answer of [long, blocked, () => refuse(429, {})]) {
      const { transport, waits } = makeTransport([answer, good]);
      expect((await catchError(transport.request("/x"))).status).toBe(429);
      expect(waits).toEqual([]);
    }
  });
});

describe("an error", () => {
  test("has what Gatehouse said", async () => {
    const body = { code: 5019, message: "game_api_error", upstream_code: 3002, upstream_message: "offline" };
    const { transport } = makeTransport([() => refuse(400, body, { "Retry-After": "7" })]);
    const error = await catchError(transport.request("/x"));
    expect(error).toMatchObject({
      name: "GatehouseError",
      code: 5019,
      status: 400,
      retryAfter: 7,
      upstreamCode: 3002,
    });
    expect(error.body).toEqual(body);
    expect(error.message).toBe("game_api_error: offline (5019, HTTP 400)");
  });

  test("of a proxy that is not Gatehouse has code 0", async () => {
    const page = () => new Response("<h1>Bad gateway</h1>", { status: 501 });
    const { transport } = makeTransport([page, () => new Response("<h1>Welcome</h1>"), () => new Response("[1]")]);
    expect(await catchError(transport.request("/x"))).toMatchObject({ code: 0, status: 501 });
    expect(await catchError(transport.request("/x"))).toMatchObject({ code: 0, status: 200 });
    expect(await catchError(transport.request("/x"))).toMatchObject({ code: 0, status: 200 });
  });

  test("has no part of the token in it", async () => {
    const { transport } = makeTransport([
      () => Promise.reject(new TypeError("fetch failed")),
      () => refuse(401, { code: 5008, message: "invalid_token" }),
    ]);
    for (let count = 0; count < 2; count++) {
      const error = await catchError(transport.request("/x"));
      expect(`${error.message}${error.stack}${JSON.stringify(error)}${Bun.inspect(error)}`).not.toContain(TOKEN);
    }
    expect(Bun.inspect(transport)).not.toContain(TOKEN);
    expect(() => new Transport({ baseUrl: "http://a", token: `${TOKEN}\n` })).toThrow("token must be an API key");
  });
});

describe("a request", () => {
  test("that is not answered ends at its deadline, also with a fetch that ignores its signal", async () => {
    const { transport } = makeTransport([() => new Promise(() => {})], { timeoutMs: 5 });
    expect(await catchError(transport.request("/x"))).toMatchObject({ code: 0, status: 0 });
  });

  test("whose body never ends, ends at its deadline", async () => {
    const { transport } = makeTransport(
      [() => new Response(new ReadableStream({ pull: () => new Promise(() => {}) }))],
      {
        timeoutMs: 5,
      },
    );
    expect(await catchError(transport.request("/x"))).toMatchObject({ code: 0, status: 0 });
  });

  test("has one deadline for its answer and its body together", async () => {
    const timers = spyOn(globalThis, "setTimeout");
    const { transport } = makeTransport([good], { timeoutMs: 4_321 });
    await transport.request("/x");
    // Other tests of the process have timers too.
    const delays = timers.mock.calls.map(([, ms]) => ms ?? 0).filter((ms) => ms > 4_000 && ms < 5_000);
    timers.mockRestore();
    expect(delays).toEqual([4_321]);
  });

  test("with a body over 32 MiB is refused while it is read", async () => {
    let pulled = 0;
    const body = new ReadableStream({
      pull(controller) {
        pulled++;
        controller.enqueue(new Uint8Array(1024 * 1024).fill(32));
      },
    });
    const { transport } = makeTransport([() => new Response(body)]);
    expect((await catchError(transport.request("/x"))).message).toContain("too large");
    expect(pulled).toBeLessThan(40);
  });

  test("follows no redirect with the token", async () => {
    const elsewhere = () => new Response(null, { status: 307, headers: { Location: "https://elsewhere.example" } });
    const { transport, sent } = makeTransport([elsewhere, good]);
    expect(await catchError(transport.request("/x", { method: "POST", backoffsMs: [1] }))).toMatchObject({
      status: 307,
    });
    expect(sent).toHaveLength(1);
    expect(sent[0]?.init).toMatchObject({ redirect: "manual", credentials: "omit" });
  });

  test("that the caller aborts throws the caller's reason, also while it waits", async () => {
    const controller = new AbortController();
    const { transport } = makeTransport([limited, good]);
    const reason = new Error("no longer wanted");
    const pending = catchError(transport.request("/x", { signal: controller.signal }));
    controller.abort(reason);
    expect((await pending) as Error).toBe(reason);
    const { transport: second, sent } = makeTransport([good]);
    expect((await catchError(second.request("/x", { signal: controller.signal }))) as Error).toBe(reason);
    expect(sent).toEqual([]);
  });

  test("goes to the address with its path, without empty parameters", async () => {
    const { transport, sent } = makeTransport([good], { baseUrl: "https://example.org/gate/" });
    await transport.request("/v2/game/server", { query: { Players: true, after: undefined, types: "a,b" } });
    expect(sent[0]?.url).toBe("https://example.org/gate/v2/game/server?Players=true&types=a%2Cb");
    expect(new Headers(sent[0]?.init.headers).get("authorization")).toBe(`Bearer ${TOKEN}`);
  });
});

test("a bad option is a TypeError at once", () => {
  const good = { baseUrl: "http://127.0.0.1", token: TOKEN };
  for (const bad of [
    { baseUrl: "nonsense" },
    { baseUrl: "ftp://a" },
    { baseUrl: "http://user:pass@a" },
    { baseUrl: "http://a?b" },
    { token: "" },
    { token: "two words" },
    { timeoutMs: 0 },
    { timeoutMs: Number.NaN },
    { timeoutMs: 2 ** 31 },
  ]) {
    expect(() => new Transport({ ...good, ...bad })).toThrow(TypeError);
  }
});
