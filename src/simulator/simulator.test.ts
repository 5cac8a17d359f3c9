// The simulator over HTTP: valid and invalid requests, and the call log.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { SECTIONS } from "../core/sections.ts";
import { CALLS_MAX, CallLog } from "./call-log.ts";
import { type Simulator, startSimulator } from "./simulator.ts";

const ALL = SECTIONS.map((section) => `${section}=true`).join("&");
let simulator: Simulator;

beforeAll(async () => {
  simulator = await startSimulator({ readLimit: 0, commandIntervalMs: 0 });
});
beforeEach(() => simulator.clearCalls());
afterAll(() => simulator.stop());

const request = (path: string, init: RequestInit = {}) =>
  fetch(`${simulator.url}${path}`, {
    ...init,
    headers: { "server-key": "secretpart-town", ...init.headers },
  });

/** The body as untyped JSON. */
async function jsonOf(response: Response) {
  return JSON.parse(await response.text());
}

describe("the game API", () => {
  test("by default no section is empty in the first read of a town, the queue included", async () => {
    for (const key of ["demo-demo", "secretpart-town", "a-1"]) {
      const info = await jsonOf(await request(`/v2/server?${ALL}`, { headers: { "server-key": key } }));
      expect(SECTIONS.filter((section) => Object.keys(info[section]).length === 0)).toEqual([]);
      expect(info.CurrentPlayers).toBe(info.Players.length);
    }
  });

  test("only sections requested with exactly `true` are returned", async () => {
    const info = await jsonOf(await request("/v2/server?Players=true&Staff=1&Queue=TRUE&Vehicles=&Unknown=true"));
    expect(SECTIONS.filter((section) => section in info)).toEqual(["Players"]);
  });

  test("the default limit of 35 reads a minute holds over HTTP", async () => {
    const limited = await startSimulator({ players: 1 });
    const url = `${limited.url}/v2/server`;
    const statuses: number[] = [];
    for (let i = 0; i < 36; i++) statuses.push((await fetch(url, { headers: { "server-key": "a-b" } })).status);
    expect([statuses.indexOf(429), statuses.length]).toEqual([35, 36]);
    await limited.stop();
  });

  test.each(["/", "/v1/server", "/v2", "/v2/server/", "/v2/server/players", "//", "/v2/server%00"])(
    "%s is 404 in JSON",
    async (path) => {
      const response = await request(path);
      expect([response.status, Object.keys(await jsonOf(response))]).toEqual([404, ["code", "message"]]);
    },
  );

  test("a wrong method is 405 and names the allowed one", async () => {
    const post = await request("/v2/server", { method: "POST", body: "{}" });
    expect([post.status, post.headers.get("allow")]).toEqual([405, "GET"]);
    const get = await request("/v2/server/command");
    expect([get.status, get.headers.get("allow")]).toEqual([405, "POST"]);
  });

  test("a command is executed, and a body of a megabyte is refused without harm", async () => {
    const good = await request("/v2/server/command", { method: "POST", body: '{"command":":h hi"}' });
    expect([good.status, (await jsonOf(good)).message]).toEqual([200, "Success"]);
    const bad = await request("/v2/server/command", { method: "POST", body: "x".repeat(1_000_000) });
    expect(bad.status).toBe(400);
    expect((await request("/v2/server")).status).toBe(200);
  });

  test("absolute request targets are accepted, and a client that disconnects early does no harm", async () => {
    const answer = await new Promise<string>((resolve) => {
      const socket = connect(simulator.port, "127.0.0.1", () =>
        socket.write(
          "GET http://game/v2/server HTTP/1.1\r\nHost: game\r\nserver-key: a-b\r\nConnection: close\r\n\r\n",
        ),
      );
      socket.once("data", (data) => resolve(String(data)));
    });
    expect(answer).toStartWith("HTTP/1.1 200");
    const aborted = connect(simulator.port, "127.0.0.1", () => {
      aborted.write("POST /v2/server/command HTTP/1.1\r\nHost: game\r\nContent-Length: 100\r\n\r\n{");
      aborted.destroy();
    });
    await new Promise((resolve) => aborted.once("close", resolve));
    expect((await request("/v2/server")).status).toBe(200);
  });
});

describe("/_calls", () => {
  test("lists the calls, oldest first, and never a whole key", async () => {
    await request("/v2/server?Staff=true&Players=true");
    await request("/v2/server/command", { method: "POST", body: '{"command":":h hi"}' });
    await request("/v2/server", { headers: { "server-key": "invalid-town" } });
    simulator.arm({ kind: "code", code: 4001, times: 1 });
    await request("/v2/server");
    const text = await (await request("/_calls")).text();
    const { calls, totals } = JSON.parse(text);
    expect(calls).toMatchObject([
      {
        method: "GET",
        path: "/v2/server",
        kind: "read",
        server: "town",
        sections: ["Players", "Staff"],
        status: 200,
      },
      { method: "POST", path: "/v2/server/command", kind: "command", command: ":h hi", status: 200 },
      { kind: "read", server: "town", status: 403, code: 2002 },
      { kind: "read", status: 429, code: 4001, fault: "code" },
    ]);
    expect(totals).toEqual({ reads: 3, commands: 1, refused: 2, limited: 1 });
    expect(text).not.toContain("secretpart");
  });

  test("since continues where the last answer ended, and DELETE clears the log", async () => {
    await request("/v2/server");
    const { next } = await jsonOf(await request("/_calls"));
    await request("/v2/server?Queue=true");
    const later = await jsonOf(await request(`/_calls?since=${next}`));
    expect(later.calls).toMatchObject([{ sections: ["Queue"] }]);
    const emptied = await jsonOf(await request("/_calls", { method: "DELETE" }));
    expect(emptied).toMatchObject({ calls: [], totals: { reads: 0, commands: 0, refused: 0 } });
    expect((await request("/_calls?since=yesterday")).status).toBe(400);
    expect((await request("/_calls", { method: "POST" })).status).toBe(405);
  });

  test("keeps no more than CALLS_MAX calls, while the totals count all", () => {
    const log = new CallLog();
    const call = {
      at: 0,
      method: "GET",
      path: "/v2/server",
      kind: "read",
      server: "town",
      sections: [],
    } as const;
    for (let i = 0; i < CALLS_MAX + 5; i++) log.record(call);
    const { calls, totals } = log.list();
    expect([calls.length, calls[0]?.index, totals.reads]).toEqual([CALLS_MAX, 5, CALLS_MAX + 5]);
  });
});

describe("starting and stopping", () => {
  test("a port in use is an error, and so is an option out of range, which the error names", async () => {
    await expect(startSimulator({ port: simulator.port })).rejects.toThrow();
    await expect(startSimulator({ speed: 0 })).rejects.toThrow("speed");
    await expect(startSimulator({ players: -1 })).rejects.toThrow("players");
  });

  test("stop closes hanging calls, frees the port, and may be called twice", async () => {
    const second = await startSimulator({ players: 1 });
    second.arm({ kind: "hang" });
    const hanging = fetch(`${second.url}/v2/server`, { headers: { "server-key": "a-b" } });
    while (second.calls().calls.length === 0) await Bun.sleep(1);
    await second.stop();
    await second.stop();
    await expect(hanging).rejects.toThrow();
    const third = await startSimulator({ port: second.port, players: 1 });
    expect(third.port).toBe(second.port);
    await third.stop();
  });

  test("after stop during `refused` the simulator does not listen again", async () => {
    const second = await startSimulator({ players: 1 });
    second.arm({ kind: "refused", seconds: 0.2 });
    await Bun.sleep(60);
    await second.stop();
    await Bun.sleep(250);
    await expect(fetch(`${second.url}/v2/server`)).rejects.toThrow();
  });
});
