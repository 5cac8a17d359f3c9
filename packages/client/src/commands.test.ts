import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { repeat } from "../../../test/long.ts";
import { Commands } from "./commands.ts";
import { GatehouseError } from "./gatehouse-error.ts";
import { type Fetch, Transport } from "./transport.ts";

/** What can happen to one request to queue a command. */
const FATES = [
  "answered",
  "answer lost",
  "request lost",
  "in flight",
  "unavailable",
  "bad gateway",
  "limited",
] as const;
type Fate = (typeof FATES)[number];

/** A Gatehouse that remembers idempotency keys, behind a line that follows a script of fates and then is good. */
function makeGatehouse(fates: readonly Fate[]) {
  const script = [...fates];
  const queued = new Map<string, string>();
  const commands: string[] = [];
  const fetch: Fetch = async (_url, init) => {
    const key = new Headers(init.headers).get("idempotency-key") ?? `none ${commands.length}`;
    const fate = script.shift() ?? "answered";
    if (fate === "request lost") throw new TypeError("fetch failed");
    if (fate === "in flight") return Response.json({ code: 5105, message: "idempotency_conflict" }, { status: 409 });
    if (fate === "unavailable")
      return Response.json({ code: 5106, message: "unavailable", retry_after: 1 }, { status: 503 });
    if (fate === "limited") return Response.json({ code: 5015, retry_after: 5 }, { status: 429 });
    if (!queued.has(key)) {
      commands.push(String(init.body));
      queued.set(key, `cmd_${commands.length}`);
    }
    if (fate === "answer lost") throw new TypeError("terminated");
    if (fate === "bad gateway") return new Response("bad gateway", { status: 502 });
    const receipt = { command_id: queued.get(key), status: "queued", position: 1, queued_at: 1 };
    return Response.json(receipt, { status: 202 });
  };
  const options = { baseUrl: "http://127.0.0.1", token: "gth_a", fetch };
  const sender = new Commands(new Transport(options, async () => {}));
  return { sender, commands };
}

describe("send", () => {
  test.each(["", " ", "ключ", "x".repeat(256)])(
    "refuses the idempotency key %p at once, without a request",
    async (idempotencyKey) => {
      const { sender, commands } = makeGatehouse([]);
      const error = await sender.send(":h", { idempotencyKey }).catch((error: unknown) => error);
      expect([error, commands]).toEqual([expect.any(TypeError), []]);
    },
  );

  test("queues a command once, whatever is lost on the way", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...FATES), { maxLength: 10 }), async (fates) => {
        const { sender, commands } = makeGatehouse(fates);
        const handle = await sender.send(":h hello").catch((error: unknown) => {
          expect(error).toBeInstanceOf(GatehouseError);
          return undefined;
        });
        if (handle) expect(handle.id).toBe("cmd_1");
        expect(commands.length).toBeLessThanOrEqual(1);
        if (handle) expect(commands).toEqual(['{"command":":h hello"}']);
      }),
      { numRuns: repeat({ usual: 200, long: 5_000 }) },
    );
  });

  test("makes another key for each command, so that two equal commands are two", async () => {
    const { sender, commands } = makeGatehouse([]);
    await sender.send(":h hello");
    expect((await sender.send(":h hello")).id).toBe("cmd_2");
    expect(commands).toHaveLength(2);
  });

  test("that gives up says with which key to go on, and then the command is queued once", async () => {
    const { sender, commands } = makeGatehouse(Array.from({ length: 7 }, () => "answer lost" as const));
    const error = (await sender.send(":h hello").catch((error) => error)) as GatehouseError;
    expect(error).toMatchObject({ code: 0, status: 0 });
    expect(error.idempotencyKey).toMatch(/^[0-9a-f]{32}$/);
    const handle = await sender.send(":h hello", { idempotencyKey: error.idempotencyKey });
    expect(handle.id).toBe("cmd_1");
    expect(commands).toHaveLength(1);
  });

  test("is not repeated after a refusal", async () => {
    for (const [code, status] of [
      [5005, 400],
      [5009, 403],
      [5008, 401],
      [5100, 429],
      [5105, 422],
      [5020, 404],
    ]) {
      let requests = 0;
      const fetch: Fetch = async () => {
        requests++;
        return Response.json({ code, message: "refused", retry_after: 1 }, { status: status ?? 0 });
      };
      const sender = new Commands(new Transport({ baseUrl: "http://a", token: "a", fetch }, async () => {}));
      expect(await sender.send(":h").catch(({ code }) => code)).toBe(code);
      expect(requests).toBe(1);
    }
  });
});

/** A command that has these statuses, one after the other; null is an outage. The clock moves with the waits. */
function makeCommand(statuses: readonly (string | null)[]) {
  const left = [...statuses];
  const waits: number[] = [];
  let now = 0;
  const fetch: Fetch = async () => {
    const status = left.length > 1 ? left.shift() : left[0];
    if (status === null) throw new TypeError("fetch failed");
    return Response.json({ command_id: "cmd_1", status });
  };
  const pause = async (ms: number) => {
    waits.push(ms);
    now += ms;
  };
  const commands = new Commands(new Transport({ baseUrl: "http://a", token: "a", fetch }, pause), () => now);
  return { handle: commands.handle("cmd_1"), waits };
}

describe("settled", () => {
  test.each(["sent", "failed", "unknown", "expired", "cancelled"])("ends with %s, over outages too", async (end) => {
    const { handle, waits } = makeCommand(["queued", null, null, "queued", "sending", end]);
    expect((await handle.settled()).status as string).toBe(end);
    expect(waits).toEqual([250, 500, 1_000, 2_000, 5_000]);
  });

  test("throws when its time is up, with the last outage as the cause", async () => {
    const waiting = makeCommand(["queued"]);
    const error = (await waiting.handle.settled({ timeoutMs: 3_000 }).catch((error) => error)) as GatehouseError;
    expect(error.message).toContain("no end within 3000 ms");
    expect(waiting.waits.reduce((sum, ms) => sum + ms)).toBe(3_000);
    const away = makeCommand([null]);
    expect((await away.handle.settled({ timeoutMs: 1 }).catch((error) => error)).cause).toBeInstanceOf(GatehouseError);
  });

  test("ends with the signal", async () => {
    const { handle } = makeCommand(["queued"]);
    const signal = AbortSignal.abort(new Error("enough"));
    expect(handle.settled({ signal })).rejects.toThrow("enough");
  });
});
