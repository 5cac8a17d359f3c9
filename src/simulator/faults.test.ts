// Every kind of fault, seen over a real socket by a client that reads the raw bytes.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { type Simulator, startSimulator } from "./simulator.ts";

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({ players: 4, readLimit: 0, commandIntervalMs: 0 });
});
afterEach(async () => {
  await simulator.clearFaults();
  simulator.clearCalls();
});
afterAll(() => simulator.stop());

const READ = "GET /v2/server?Players=true HTTP/1.1\r\nHost: game\r\nserver-key: abc-town\r\nConnection: close\r\n\r\n";

type Exchange = {
  head: string;
  body: string;
  chunks: number;
  end: "end" | "ECONNRESET" | "ECONNREFUSED" | "silence";
};

/** Sends a raw request and returns the raw response, and how the connection ended. */
function exchange(request = READ, timeoutMs = 30_000): Promise<Exchange> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    const finish = (end: Exchange["end"]) => {
      clearTimeout(timer);
      socket.destroy();
      const text = Buffer.concat(parts).toString();
      const split = text.indexOf("\r\n\r\n");
      resolve({ head: text.slice(0, split), body: text.slice(split + 4), chunks: parts.length, end });
    };
    const timer = setTimeout(() => finish("silence"), timeoutMs);
    const socket = connect(simulator.port, "127.0.0.1", () => socket.write(request));
    socket.on("data", (part) => parts.push(Buffer.from(part)));
    socket.on("end", () => finish("end"));
    socket.on("error", (error: NodeJS.ErrnoException) => finish(error.code as Exchange["end"]));
  });
}

const read = (server = "town") =>
  fetch(`${simulator.url}/v2/server?Players=true`, {
    headers: { "server-key": `abc-${server}` },
    redirect: "manual",
  });
const command = (text: string) =>
  fetch(`${simulator.url}/v2/server/command`, {
    method: "POST",
    headers: { "server-key": "abc-town" },
    body: JSON.stringify({ command: text }),
  });
const arm = (fault: unknown) =>
  fetch(`${simulator.url}/_faults`, {
    method: "POST",
    body: JSON.stringify(fault),
    headers: { Connection: "close" },
  });

/** The body as untyped JSON. */
async function jsonOf(response: Response) {
  return JSON.parse(await response.text());
}

describe("faults of the connection", () => {
  test("reset ends the connection with RST and sends nothing", async () => {
    await arm({ kind: "reset", times: 1 });
    expect(await exchange()).toMatchObject({ end: "ECONNRESET", chunks: 0 });
    expect((await exchange()).head).toStartWith("HTTP/1.1 200");
  });

  test("truncated announces more bytes than it sends and closes the connection", async () => {
    await arm({ kind: "truncated" });
    const { head, body, end } = await exchange();
    const promised = Number(/content-length: (\d+)/i.exec(head)?.[1]);
    expect(end).toBe("end");
    expect(body.length).toBeGreaterThan(0);
    expect(Buffer.byteLength(body)).toBeLessThan(promised);
    await expect(read().then((response) => response.text())).rejects.toThrow();
  });

  test("drip sends the normal answer one byte at a time", async () => {
    await arm({ kind: "drip", ms: 1 });
    const request = READ.replace("?Players=true", "");
    const { body, chunks, end } = await exchange(request);
    expect(end).toBe("end");
    expect(chunks).toBeGreaterThan(20);
    expect(JSON.parse(body).CurrentPlayers).toBe(4);
  });

  test("hang never answers the call, and the call is logged all the same", async () => {
    await arm({ kind: "hang" });
    expect(await exchange(READ, 150)).toMatchObject({ end: "silence", chunks: 0 });
    expect(simulator.calls().calls).toMatchObject([{ kind: "read", server: "town", fault: "hang", status: null }]);
  });

  test("slow sends the normal answer after its delay", async () => {
    await arm({ kind: "slow", ms: 120 });
    const begun = performance.now();
    const response = await read();
    expect(response.status).toBe(200);
    expect(performance.now() - begun).toBeGreaterThanOrEqual(115);
  });

  test("refused refuses connections, then the simulator listens on the same port again", async () => {
    expect((await arm({ kind: "refused", seconds: 2 })).status).toBe(201);
    while ((await exchange()).end !== "ECONNREFUSED");
    let answer = await exchange();
    while (answer.end === "ECONNREFUSED") answer = await exchange();
    expect(answer.head).toStartWith("HTTP/1.1 200");
  });

  test("refused that is cleared before it begins never begins", async () => {
    simulator.arm({ kind: "refused", seconds: 60 });
    await simulator.clearFaults();
    const until = performance.now() + 100;
    while (performance.now() < until) expect((await fetch(`${simulator.url}/_faults`)).status).toBe(200);
  });

  test("refused closes open connections too, and clearFaults ends it early", async () => {
    await (await read()).text();
    simulator.arm({ kind: "refused", seconds: 60 });
    const isAnswered = () =>
      read().then(
        () => true,
        () => false,
      );
    while (await isAnswered());
    await simulator.clearFaults();
    expect((await read()).status).toBe(200);
  });

  test("a command whose answer is lost is executed only when the fault says `acts`", async () => {
    const hasCommand = async (text: string) => {
      const response = await fetch(`${simulator.url}/v2/server?CommandLogs=true`, {
        headers: { "server-key": "abc-town" },
      });
      return (await response.text()).includes(text);
    };
    await arm({ kind: "reset", times: 1, target: "commands" });
    await expect(command(":h lost")).rejects.toThrow();
    await arm({ kind: "reset", times: 1, target: "commands", acts: true });
    await expect(command(":h done but lost")).rejects.toThrow();
    expect([await hasCommand(":h lost"), await hasCommand(":h done but lost")]).toEqual([false, true]);
  });
});

describe("faults of the answer", () => {
  test.each([
    [0, 500],
    [1001, 500],
    [1002, 500],
    [2000, 403],
    [2002, 403],
    [2004, 403],
    [3001, 400],
    [3002, 422],
    [4000, 403],
    [4001, 429],
    [4003, 403],
    [9998, 403],
    [9999, 500],
    [4242, 500],
  ])("code %i comes with HTTP %i", async (code, status) => {
    await arm({ kind: "code", code, times: 1 });
    const response = await read();
    expect([response.status, (await jsonOf(response)).code]).toEqual([status, code]);
  });

  test("code takes status, message and each of the three body forms", async () => {
    const bodies: unknown[] = [];
    for (const form of ["message", "error", "command-id"]) {
      await arm({ kind: "code", code: 1001, status: 418, message: "tea", form, times: 1 });
      const response = await read();
      expect(response.status).toBe(418);
      bodies.push(Object.keys(await jsonOf(response)));
    }
    expect(bodies).toEqual([
      ["code", "message"],
      ["error", "code"],
      ["message", "commandId"],
    ]);
  });

  test("not-json sends 200 without JSON, html-502 sends a 502 page in HTML", async () => {
    await arm({ kind: "not-json", times: 1 });
    await arm({ kind: "html-502", times: 1 });
    const first = await read();
    expect(first.status).toBe(200);
    await expect(first.json()).rejects.toThrow();
    const second = await read();
    expect([second.status, second.headers.get("content-type")]).toEqual([502, "text/html"]);
  });

  test("huge streams the requested number of bytes", async () => {
    await arm({ kind: "huge", times: 1 });
    let bytes = 0;
    for await (const chunk of (await read()).body ?? []) bytes += chunk.length;
    expect(bytes).toBe(50_000_000);
  });

  test("huge with gzip is small on the wire and has the requested size when decompressed", async () => {
    await arm({ kind: "huge", bytes: 5_000_000, gzip: true });
    const { body } = await exchange();
    expect(body.length).toBeLessThan(100_000);
    expect((await (await read()).bytes()).length).toBe(5_000_000);
  });

  test("redirect sends the requested location", async () => {
    await arm({ kind: "redirect", to: "http://127.0.0.1:1/elsewhere" });
    const response = await read();
    expect([response.status, response.headers.get("location")]).toEqual([302, "http://127.0.0.1:1/elsewhere"]);
  });

  test("rate-limit sends the wait in header and body, and each can be left out", async () => {
    await arm({ kind: "rate-limit", retry_after: 7, times: 1 });
    const full = await read();
    expect([full.status, full.headers.get("retry-after"), full.headers.get("x-ratelimit-remaining")]).toEqual([
      429,
      "7",
      "0",
    ]);
    expect(await full.json()).toMatchObject({ retry_after: 7, code: 4001 });
    await arm({ kind: "rate-limit", headers: false, retry_body: false, with_code: false, times: 1 });
    const bare = await read();
    expect([...bare.headers.keys()].filter((name) => /ratelimit|retry/.test(name))).toEqual([]);
    expect(Object.keys(await jsonOf(bare))).toEqual(["message", "bucket"]);
    await arm({ kind: "rate-limit", retry_header: false, retry_body: false, times: 1 });
    const resetOnly = await read();
    expect(resetOnly.headers.has("retry-after")).toBe(false);
    expect(Number(resetOnly.headers.get("x-ratelimit-reset"))).toBeGreaterThan(Date.now() / 1000);
  });
});

describe("/_faults", () => {
  test("faults apply only to their server and to reads or commands, and control endpoints still answer", async () => {
    await arm({ kind: "code", code: 1001, server: "town", target: "reads" });
    expect((await read("town")).status).toBe(500);
    expect((await read("other")).status).toBe(200);
    expect((await command(":h hi")).status).toBe(200);
    const { armed, kinds } = await jsonOf(await fetch(`${simulator.url}/_faults`));
    expect(armed).toMatchObject([
      { kind: "code", code: 1001, server: "town", target: "reads", times_left: null, met: 1 },
    ]);
    expect(kinds).toHaveLength(18);
    expect((await fetch(`${simulator.url}/_faults`, { method: "DELETE" })).status).toBe(200);
    expect((await read("town")).status).toBe(200);
  });

  test("an invalid request is 400 and names the field", async () => {
    const response = await arm({ kind: "slow", ms: "soon" });
    expect([response.status, await jsonOf(response)]).toEqual([400, { field: "ms", message: "ms: must be a number" }]);
    expect((await fetch(`${simulator.url}/_faults`, { method: "POST", body: "{" })).status).toBe(400);
    expect((await fetch(`${simulator.url}/_faults`, { method: "PUT" })).status).toBe(405);
  });
});
