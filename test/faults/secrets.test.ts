// Every secret has a unique value, a canary. The test uses them in every possible way, then searches answers, logs and files
// for them.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseConfig } from "../../src/instance/config.ts";
import { BASE_INFO, type FakeGameApi, startFakeGameApi } from "../fake-game-api.ts";
import { makeTestFolder, startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";

const PATH = "/v2/game/server";
const OLD_SERVER_KEY = "CanaryOld7Qx2-UpstreamKey9Zt4";
const SERVER_KEY = "CanaryNew5Lw8-UpstreamKey3Vb6";
const SECRETS = {
  GATEHOUSE_MASTER_KEY: "Canary-Master-8fK2pW5xR9dL4mT7vQ1z",
  GATEHOUSE_SECRET: "Canary-Secret-3hN6cJ8bY2gS5tU9eA4i",
  GATEHOUSE_METRICS_TOKEN: "Canary-Metrics-6oP1rE4wZ7qX2kM5nB8u",
  GATEHOUSE_UPSTREAM_GLOBAL_KEY: "Canary-Global-9jD3fG6hV2cL5sK8aT1y",
};
const KEY_FILES = ["master.key", "secret.key", "demo.key"];

let api: FakeGameApi;
let gatehouse: TestGatehouse;
const tokens: string[] = [];
/** The same secrets for clients of the game API. */
const facadeKeys: string[] = [];
/** The secrets of a browser that was signed in: cookies, session tokens, invitations. */
const browserSecrets: string[] = [];
/** Status, headers and body of every answer, without the tokens that it was asked to create. */
const answers: string[] = [];
const filesWhileRunning = new Map<string, string>();
const filesAfterwards = new Map<string, string>();
let lastCommand = "";
let audit = "";
let metrics = "";
let readiness = "";

async function send(path: string, init: RequestInit = {}): Promise<string> {
  const response = await fetch(gatehouse.url + path, { redirect: "manual", ...init });
  const body = await response.text();
  const made = /"token":"(gth_[0-9A-Za-z]{36})"/.exec(body)?.[1];
  const isMaking = init.method === "POST" && response.status < 300 && made !== undefined;
  const facadeKey = /"facade_key":"(gth[0-9A-Za-z]{36}-[0-9A-Za-z]+)"/.exec(body)?.[1] ?? "";
  if (isMaking) tokens.push(made);
  if (isMaking) facadeKeys.push(facadeKey);
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
  const answer = `${init.method ?? "GET"}\n${headers}\n${isMaking ? body.replace(made, "").replace(facadeKey, "") : body}`;
  answers.push(init.method === "POST" && response.status < 300 ? takeBrowserSecrets(answer) : answer);
  return body;
}

/** Only an answer that makes them may have them. */
function takeBrowserSecrets(answer: string): string {
  return answer.replace(/gt[sdi]_[0-9A-Za-z_.-]{43,110}/g, (secret) => {
    browserSecrets.push(secret);
    return "";
  });
}

/** From the page of Gatehouse itself. */
function sendFromPage(path: string, headers: Record<string, string> = {}, body?: object): Promise<string> {
  return send(path, {
    method: "POST",
    headers: { Origin: gatehouse.url, ...(body && { "Content-Type": "application/json" }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
}

/** Signs browsers in by invitation, uses what they get, and tries it all in the wrong places. */
async function signBrowsersIn(server: string): Promise<void> {
  const person = { name: "Alex", is_operator: true, servers: [{ server_id: server, role: "manager" }] };
  const id = /"person_id":"([^"]+)"/.exec(await admin("POST", "/admin/people", person))?.[1] ?? "";
  await admin("POST", `/admin/people/${id}/invitations`);
  const invitation = browserSecrets.find((secret) => secret.startsWith("gti_")) ?? "";
  const redeem = { secret: invitation, remember: true };
  for (let round = 0; round < 2; round++) await sendFromPage("/session/invitations", {}, redeem);
  const cookie = browserSecrets.find((secret) => secret.startsWith("gtd_")) ?? "";
  const Cookie = `gatehouse_session=${cookie}`;
  await sendFromPage("/session", { Cookie }, { server_id: server });
  await sendFromPage("/session", { Cookie }, {});
  for (const token of browserSecrets.filter((secret) => secret.startsWith("gts_"))) {
    await read(token);
    await read(token, "/session/me");
    await read(token, "/admin/servers");
  }
  await admin("GET", `/admin/people/${id}/sessions`);
  for (const secret of [...browserSecrets]) {
    await sendFromPage("/session", { Cookie: `gatehouse_session=${secret}x` });
    await sendFromPage("/session/invitations", {}, { secret: `${secret}x` });
    await sendFromPage("/session/invitations", {}, { [secret]: secret });
    await send("/session", { method: "POST", headers: { Origin: `https://${secret}.example` } });
    await send(`/session/chat/return?code=${secret}&state=${secret}`);
    await admin("DELETE", `/admin/people/${id}/sessions/${secret}`);
  }
  await send("/session", { method: "DELETE", headers: { Origin: gatehouse.url, Cookie } });
}

function admin(method: string, path: string, body?: unknown): Promise<string> {
  return send(path, {
    method,
    headers: {
      Authorization: `Bearer ${SECRETS.GATEHOUSE_MASTER_KEY}`,
      ...(body !== undefined && { "Content-Type": "application/json" }),
    },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
}

function read(token: string, path = PATH): Promise<string> {
  return send(path, { headers: { Authorization: `Bearer ${token}` } });
}

const idIn = (body: string) => /"(?:server|key)_id":"([^"]+)"/.exec(body)?.[1] ?? "";
const canaries = () => [
  OLD_SERVER_KEY,
  SERVER_KEY,
  ...Object.values(SECRETS),
  ...tokens,
  ...facadeKeys,
  ...browserSecrets,
];

/** The text in every encoding that would reveal it: plain in any case, hex, base64 at any offset. */
function formsOf(secret: string): { plain: string[]; exact: string[] } {
  const bytes = Buffer.from(secret);
  const exact = [0, 1, 2].flatMap((offset) => {
    const whole = Buffer.concat([Buffer.alloc(offset), bytes]);
    // Only the characters that do not depend on the bytes around the text.
    const from = Math.ceil((offset * 8) / 6);
    const to = Math.floor((whole.length * 8) / 6);
    return [whole.toString("base64").slice(from, to), whole.toString("base64url").slice(from, to)];
  });
  return {
    plain: [secret.toLowerCase(), encodeURIComponent(secret).toLowerCase(), bytes.toString("hex")],
    exact,
  };
}

/** The canaries that a text contains. */
function leaksIn(text: string, secrets: readonly string[] = canaries()): string[] {
  const lower = text.toLowerCase();
  return secrets.filter((secret) => {
    const { plain, exact } = formsOf(secret);
    return plain.some((form) => lower.includes(form)) || exact.some((form) => text.includes(form));
  });
}

function readFiles(folder: string, into: Map<string, string>): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || KEY_FILES.includes(entry.name)) continue;
    into.set(entry.name, readFileSync(join(entry.parentPath, entry.name), "latin1"));
  }
}

/** Answers and faults of the game API, each with our secrets in it. */
function badAnswers(): (() => Response)[] {
  const message = `bad key ${SERVER_KEY} / ${SECRETS.GATEHOUSE_UPSTREAM_GLOBAL_KEY}`;
  return [
    () => Response.json({ code: 9999, message }, { status: 500 }),
    () => Response.json({ error: `${"x".repeat(490)}${SERVER_KEY}`, code: 3001 }, { status: 400 }),
    () => Response.json({ message: SERVER_KEY.toUpperCase() }, { status: 500 }),
    () => new Response(`<html>${message}</html>`, { status: 502, headers: { "Content-Type": "text/html" } }),
    () => new Response(`{"Name": "${SERVER_KEY}`, { headers: { "Content-Type": "application/json" } }),
    () => Response.redirect(`${api.url}/elsewhere?key=${SERVER_KEY}`),
    () => Response.json({ ...BASE_INFO, Name: 1 }, { headers: { "X-Key": SERVER_KEY } }),
    () => Response.json({ code: 2002, message: `refused: ${SERVER_KEY}` }, { status: 403 }),
  ];
}

async function doEverything(): Promise<void> {
  const server = idIn(await admin("POST", "/admin/servers", { name: "One", server_key: OLD_SERVER_KEY }));
  const doomed = idIn(await admin("POST", "/admin/servers", { name: "Two", server_key: OLD_SERVER_KEY }));
  const key = idIn(await admin("POST", "/admin/keys", { server_id: server, label: "bot" }));
  const spare = idIn(await admin("POST", "/admin/keys", { server_id: server, label: "spare" }));
  await admin("POST", "/admin/keys", { server_id: doomed, label: "doomed" });
  const [token = "", spareToken = "", doomedToken = ""] = tokens;

  await read(token);
  await admin("PATCH", `/admin/servers/${server}`, {
    server_key: SERVER_KEY,
    name: "Renamed",
    community: "town",
  });
  await read(token, "/v2/town/game/server?Players=true");
  await read(doomedToken);
  await admin("PATCH", `/admin/keys/${key}`, { label: "renamed", ip_allow: ["127.0.0.1"], suspended: false });
  await admin("POST", `/admin/keys/${spare}/rotate`, { grace_seconds: 600 });
  await admin("POST", `/admin/keys/${spare}/rotate`);
  await read(spareToken);
  await admin("DELETE", `/admin/keys/${spare}`);
  await read(spareToken);
  await admin("DELETE", `/admin/servers/${doomed}`);
  await read(doomedToken);

  await signBrowsersIn(server);
  await sendWrongKeys(token);
  await sendBadBodies(server, key);
  await sendOddPlaces(token);

  await failCommand(token, key);
  for (const answer of badAnswers()) {
    api.answer = answer;
    gatehouse.clock.advance(120_000);
    await admin("PATCH", `/admin/servers/${server}`, { server_key: SERVER_KEY });
    await read(token, "/v2/town/game/server?Players=true&Staff=true");
    await send("/readyz");
  }
  readiness = await send("/readyz");
  await api.stop();
  gatehouse.clock.advance(120_000);
  await admin("PATCH", `/admin/servers/${server}`, { server_key: SERVER_KEY });
  await read(token);
  await Promise.all(Array.from({ length: 530 }, () => read(token)));
  await admin("GET", "/admin/blocks");
  await admin("DELETE", `/admin/blocks/${key}`);

  await failInside(token, server);
  for (const path of ["/admin/servers", `/admin/servers/${server}`, "/admin/keys", `/admin/keys/${key}`]) {
    await admin("GET", path);
  }
  audit = await admin("GET", "/admin/audit?limit=200");
  metrics = await read(SECRETS.GATEHOUSE_METRICS_TOKEN, "/metrics");
}

/** The message of the game API about a command is stored with the command. */
async function failCommand(token: string, key: string): Promise<void> {
  const said = `no: ${SERVER_KEY} ${SECRETS.GATEHOUSE_UPSTREAM_GLOBAL_KEY}`;
  api.answer = () => Response.json({ code: 3001, message: said }, { status: 400 });
  await admin("PATCH", `/admin/keys/${key}`, { commands: ["*"] });
  const sent = await send(`${PATH}/command`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify({ command: ":h hello" }),
  });
  const path = `/admin/commands/${/"command_id":"([^"]+)"/.exec(sent)?.[1]}`;
  for (let i = 0; i < 200 && !/"status":"(failed|unknown)"/.test(lastCommand); i++) {
    lastCommand = await admin("GET", path);
  }
}

/** Every secret in the place of another one, complete and slightly changed. */
async function sendWrongKeys(token: string): Promise<void> {
  for (const secret of canaries()) {
    for (const path of [PATH, "/admin/servers", "/metrics"]) {
      await read(`${secret}x`, path);
      await read(`${secret} ${secret}`, path);
      const basic = Buffer.from(`user:${secret}`).toString("base64");
      await send(path, { headers: { Authorization: `Basic ${basic}` } });
    }
    gatehouse.clock.advance(60_000);
  }
  for (let i = 0; i < 12; i++) await read(SECRETS.GATEHOUSE_SECRET, "/admin/keys");
  await read(SECRETS.GATEHOUSE_MASTER_KEY);
  await read(SECRETS.GATEHOUSE_METRICS_TOKEN, "/admin/servers");
  await read(token, "/metrics");
}

async function sendBadBodies(server: string, key: string): Promise<void> {
  for (const secret of canaries()) {
    for (const [method, path] of [
      ["POST", "/admin/servers"],
      ["PATCH", `/admin/servers/${server}`],
      ["POST", "/admin/keys"],
      ["PATCH", `/admin/keys/${key}`],
      ["POST", `/admin/keys/${key}/rotate`],
    ] as const) {
      for (const body of [
        `{"name": "${secret}`,
        secret,
        JSON.stringify(secret),
        { server_key: `${secret}!`, name: `${secret}\n`, community: `${secret}.` },
        { server_kex: secret, token: secret },
        { label: `${secret}\u0000`, versions: [secret], sections: [secret], suspended: secret },
        { commands: [`${secret} x`], expires_at: secret, server_id: secret, grace_seconds: secret },
      ]) {
        await admin(method, path, body);
      }
      const headers = {
        Authorization: `Bearer ${SECRETS.GATEHOUSE_MASTER_KEY}`,
        "Content-Type": "text/plain",
      };
      await send(path, { method, headers, body: secret });
      await send(path, { method, headers, body: secret.padEnd(9_000, secret) });
    }
  }
}

/** Secrets in paths, queries and headers where they do not belong. */
async function sendOddPlaces(token: string): Promise<void> {
  for (const secret of canaries()) {
    const written = encodeURIComponent(secret);
    const headers = {
      "User-Agent": secret,
      "X-Request-Id": secret,
      "X-Forwarded-For": secret,
      Origin: `https://${secret}.example`,
      Referer: `https://example.org/${secret}`,
      Cookie: `key=${secret}`,
      "If-None-Match": `"${secret}"`,
    };
    for (const path of [
      `/${written}`,
      `/v1/${written}`,
      `/v2/${written}/game/server?key=${written}`,
      `/v2/${written}`,
    ]) {
      await send(path, { headers });
      await send(path, { headers: { ...headers, Authorization: `Bearer ${token}` } });
    }
    for (const path of ["/v2/server", "/erlc/v1/server/staff", "/v2/server/command"]) {
      await send(path, { headers: { "server-key": secret } });
      await send(path, {
        method: "POST",
        body: `{"command":5,"key":"${secret}"`,
        headers: { "server-key": secret },
      });
    }
    await admin("GET", `/admin/servers/${written}`);
    await admin("DELETE", `/admin/keys/${written}`);
    await admin("POST", `/admin/keys/${written}/rotate`, {});
    await admin("GET", `/admin/keys?server_id=${written}`);
    await admin("GET", `/admin/servers?cursor=${written}!&limit=${written}`);
    await admin("GET", `/admin/audit?cursor=${written}`);
  }
  gatehouse.clock.advance(60_000);
}

/** Unexpected errors are logged with all details. */
async function failInside(token: string, server: string): Promise<void> {
  const { store } = gatehouse.app;
  const { find, create, update } = store.servers;
  gatehouse.clock.advance(3_600_000);
  store.servers.find = () => {
    throw new Error("broken while reading");
  };
  await read(token, `${PATH}?key=${SERVER_KEY}`);
  store.servers.find = find;
  store.servers.create = () => Promise.reject(new Error("broken while writing"));
  store.servers.update = () => Promise.reject(new Error("broken while writing"));
  await admin("POST", "/admin/servers", { name: "Three", server_key: SERVER_KEY });
  await admin("PATCH", `/admin/servers/${server}`, { server_key: SERVER_KEY });
  Object.assign(store.servers, { create, update });
  const operators = [...Object.values(SECRETS), ...tokens, ...browserSecrets].join(" ");
  gatehouse.app.log.error({ err: new Error(operators), secret: { deep: [operators] } }, operators);
}

beforeAll(async () => {
  api = startFakeGameApi();
  const folder = makeTestFolder();
  gatehouse = await startGatehouse({
    folder,
    env: { ...SECRETS, GATEHOUSE_UPSTREAM_URL: api.url, GATEHOUSE_LOG_LEVEL: "trace" },
  });
  await doEverything();
  readFiles(folder, filesWhileRunning);
  await gatehouse.stop();
  readFiles(folder, filesAfterwards);
  rmSync(folder, { recursive: true, force: true });
});
afterAll(() => api.stop());

describe("the search can find something", () => {
  test("the game API was given the server keys and the global key, so they were there to be lost", () => {
    const sent = api.calls.map(({ headers }) => [...headers].map(([, value]) => value).join("\n")).join("\n");
    for (const secret of [OLD_SERVER_KEY, SERVER_KEY, SECRETS.GATEHOUSE_UPSTREAM_GLOBAL_KEY]) {
      expect(sent).toContain(secret);
    }
  });

  test("the other secrets were used: the master key made tokens, the metrics token got metrics", () => {
    expect(tokens).toHaveLength(5);
    expect(metrics).toContain("gatehouse_requests_total");
    expect(audit).toContain('"action":"server.deleted"');
    const kinds = browserSecrets.map((secret) => secret.slice(0, 4)).sort();
    expect(kinds).toEqual(["gtd_", "gtd_", "gtd_", "gti_", "gts_", "gts_"]);
    expect(audit).toContain('"action":"session.opened"');
  });

  test("a command failed with the game API's own words", () => {
    expect(lastCommand).toContain('"status":"failed"');
    expect(lastCommand).toContain('"upstream_message":"no: [redacted] [redacted]"');
  });

  test("the places that are searched have something in them", () => {
    expect(answers.length).toBeGreaterThan(500);
    expect(gatehouse.logLines.length).toBeGreaterThan(500);
    for (const mark of ["5019", "5100", "5017", "5107"]) expect(answers.join("\n")).toContain(mark);
    expect([...filesWhileRunning.keys()].sort()).toEqual(expect.arrayContaining(["gatehouse.db", "gatehouse.db-wal"]));
    expect([...filesWhileRunning.values()].join("")).toContain("Renamed");
    expect(filesAfterwards.get("gatehouse.db")).toContain("Renamed");
    expect(gatehouse.logLines.join("")).toContain("broken while writing");
  });

  test("every form of a secret is recognised, wherever it stands", () => {
    for (const secret of [SERVER_KEY, SECRETS.GATEHOUSE_SECRET]) {
      for (const before of ["", "x", "xx", "xxx"]) {
        const text = `${before}${secret}after`;
        const bytes = Buffer.from(text);
        for (const form of [
          text,
          text.toUpperCase(),
          bytes.toString("hex"),
          bytes.toString("base64"),
          bytes.toString("base64url"),
        ]) {
          expect(leaksIn(`…${form}…`, [secret])).toEqual([secret]);
        }
      }
    }
    expect(leaksIn("nothing of the kind")).toEqual([]);
  });
});

describe("no secret is in", () => {
  test("any file of the data folder, while running, write-ahead log included", () => {
    for (const [name, bytes] of filesWhileRunning) expect([name, leaksIn(bytes)]).toEqual([name, []]);
  });

  test("any file of the data folder after it is closed", () => {
    for (const [name, bytes] of filesAfterwards) expect([name, leaksIn(bytes)]).toEqual([name, []]);
  });

  test("any line of the log, at its most talkative", () => {
    for (const line of gatehouse.logLines) expect([line, leaksIn(line)]).toEqual([line, []]);
  });

  test("the audit log", () => {
    expect(leaksIn(audit)).toEqual([]);
  });

  test("the metrics or the readiness", () => {
    expect(leaksIn(metrics)).toEqual([]);
    expect(leaksIn(readiness)).toEqual([]);
  });

  test("any answer, its headers included, but the ones that make a token", () => {
    for (const answer of answers) expect([answer, leaksIn(answer)]).toEqual([answer, []]);
  });
});

describe("no secret comes back when it is put where something else belongs", () => {
  let fresh: TestGatehouse;
  let path = "";
  let token = "";
  beforeAll(async () => {
    fresh = await startGatehouse({
      env: { ...SECRETS, GATEHOUSE_UPSTREAM_URL: api.url, GATEHOUSE_LOG_LEVEL: "trace" },
    });
    const server = await fresh.addServer({ serverKey: SERVER_KEY });
    const key = await fresh.addKey(server);
    token = key.token;
    path = `/admin/keys/${key.keyId}`;
  });
  afterAll(() => fresh.stop());

  test.each([
    ["as an address", (secret: string) => ({ ip_allow: [secret] })],
    ["as a command, twice", (secret: string) => ({ commands: [secret, secret.toLowerCase()] })],
    ["as the name of a field", (secret: string) => ({ [secret]: true })],
  ])("%s", async (_, bodyWith) => {
    for (const secret of [SERVER_KEY, ...Object.values(SECRETS)]) {
      const response = await fresh.admin("PATCH", path, bodyWith(secret));
      expect(response.status).toBe(400);
      expect(leaksIn(await response.text(), [secret])).toEqual([]);
    }
  });

  test("in the path of a request that meets broken machinery, which is logged", async () => {
    const { store } = fresh.app;
    const { find } = store.servers;
    store.servers.find = () => {
      throw new Error("broken");
    };
    for (const secret of [SERVER_KEY, ...Object.values(SECRETS), token]) {
      expect((await fresh.get(`/v2/${secret}/game/server`, token)).status).toBe(500);
    }
    store.servers.find = find;
    expect(fresh.logLines.join("")).toContain("broken");
    for (const line of fresh.logLines) {
      expect(leaksIn(line, [SERVER_KEY, ...Object.values(SECRETS), token])).toEqual([]);
    }
  });
});

test("generated secrets are only in their own files, which only their owner can read", async () => {
  const folder = makeTestFolder();
  const own = await startGatehouse({ folder });
  const secrets = new Map(KEY_FILES.map((name) => [name, readFileSync(join(folder, name), "utf8").trim()]));
  expect((await own.get(PATH, secrets.get("demo.key"))).status).toBe(200);
  expect((await own.get("/metrics", secrets.get("master.key"))).status).toBe(200);
  await own.stop();
  for (const name of KEY_FILES) expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o600]);
  const files = new Map<string, string>();
  readFiles(folder, files);
  expect(files.size).toBeGreaterThan(0);
  for (const [name, bytes] of files) expect([name, leaksIn(bytes, [...secrets.values()])]).toEqual([name, []]);
  for (const line of own.logLines) expect(leaksIn(line, [...secrets.values()])).toEqual([]);
  rmSync(folder, { recursive: true, force: true });
});

test("settings that are refused are refused without being repeated when they are secrets", () => {
  const bad = {
    GATEHOUSE_MASTER_KEY: "Canary Short",
    GATEHOUSE_SECRET: "Canary Secret",
    GATEHOUSE_METRICS_TOKEN: "Canary Metrics",
    GATEHOUSE_UPSTREAM_GLOBAL_KEY: "Canary Global",
    GATEHOUSE_UPSTREAM_URL: "https://user:CanaryPassword@example.org",
    GATEHOUSE_STORE: "postgres://user:CanaryPostgres%@example.org/gatehouse",
    GATEHOUSE_REDIS: "redis://user:CanaryRedis@example.org/not/a/number",
  };
  let message = "";
  try {
    parseConfig(bad);
  } catch (error) {
    message = error instanceof Error ? error.message : "";
  }
  for (const name of Object.keys(bad)) expect(message).toContain(name);
  expect(message).not.toContain("Canary");
});
