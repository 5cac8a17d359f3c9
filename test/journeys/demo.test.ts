// The demo server and its key: they belong to the simulator, and work whenever the simulator is the upstream, unless an
// operator has revoked or deleted them.
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { copyFileSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { mintToken } from "../../src/core/keys/token.ts";
import { type FakeGameApi, startFakeGameApi } from "../fake-game-api.ts";
import { makeTestFolder, startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";
import { makeSchema4 } from "../store/old-schema.ts";
import { until } from "../until.ts";
import { createOperator, type KeyBody, type ServerBody } from "./operator.ts";

const PATH = "/v2/game/server";

let folder: string;
let api: FakeGameApi;
let gatehouse: TestGatehouse | undefined;

beforeEach(() => {
  folder = makeTestFolder();
  api = startFakeGameApi();
});
afterEach(async () => {
  await gatehouse?.stop();
  await api.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function restart(upstream: "real" | "simulator", from = folder): Promise<TestGatehouse> {
  await gatehouse?.stop();
  const env = upstream === "real" ? { GATEHOUSE_UPSTREAM_URL: api.url } : {};
  gatehouse = await startGatehouse({ folder: from, env });
  return gatehouse;
}

const readKeyFile = (from = folder) => readFileSync(join(from, "demo.key"), "utf8").trim();
const statusOf = async (token: string) => (await gatehouse?.get(PATH, token))?.status;

test("a real game API is never asked for the demo server, and the demo works again with the simulator", async () => {
  const token = (await restart("simulator")).app.demoToken ?? "";
  expect(await statusOf(token)).toBe(200);
  expect((await restart("real")).app.demoToken).toBeUndefined();
  expect(await statusOf(token)).toBe(400);
  expect(api.calls).toHaveLength(0);
  expect((await restart("simulator")).app.demoToken).toBe(token);
  expect(await statusOf(token)).toBe(200);
});

describe("a demo key that works is there again", () => {
  test("when demo.key is gone: a new token, in a file for its owner only; the former one works on for a while", async () => {
    const old = (await restart("simulator")).app.demoToken ?? "";
    await gatehouse?.stop();
    rmSync(join(folder, "demo.key"));
    const token = (await restart("simulator")).app.demoToken ?? "";
    expect(token).not.toBe(old);
    expect(token).toBe(readKeyFile());
    expect(statSync(join(folder, "demo.key")).mode & 0o777).toBe(0o600);
    expect(await statusOf(token)).toBe(200);
    expect(await statusOf(old)).toBe(200);
    expect((await restart("simulator")).app.demoToken).toBe(token);
    if (!gatehouse) throw new Error("nothing was started");
    expect(await createOperator(gatehouse).list<KeyBody>("/admin/keys")).toHaveLength(1);
  });

  test("when demo.key belongs to another database", async () => {
    await restart("simulator");
    await gatehouse?.stop();
    writeFileSync(join(folder, "demo.key"), `${mintToken((n) => new Uint8Array(n).fill(7))}\n`);
    const token = (await restart("simulator")).app.demoToken ?? "";
    expect(token).toBe(readKeyFile());
    expect(await statusOf(token)).toBe(200);
  });

  test("when the database was restored elsewhere, without demo.key", async () => {
    await restart("simulator");
    await gatehouse?.stop();
    const elsewhere = makeTestFolder();
    for (const name of ["gatehouse.db", "secret.key"]) copyFileSync(join(folder, name), join(elsewhere, name));
    const token = (await restart("simulator", elsewhere)).app.demoToken ?? "";
    expect(token).toBe(readKeyFile(elsewhere));
    expect(await statusOf(token)).toBe(200);
    await gatehouse?.stop();
    rmSync(elsewhere, { recursive: true, force: true });
  });
});

describe("no demo key is made", () => {
  test("when it was revoked, also when demo.key is gone", async () => {
    const operator = createOperator(await restart("simulator"));
    const [key] = await operator.list<KeyBody>("/admin/keys");
    await operator.revoke({ key_id: key?.key_id ?? "" });
    expect((await restart("simulator")).app.demoToken).toBeUndefined();
    await gatehouse?.stop();
    rmSync(join(folder, "demo.key"));
    expect((await restart("simulator")).app.demoToken).toBeUndefined();
  });

  test("when the demo server was deleted", async () => {
    const started = await restart("simulator");
    const [server] = await createOperator(started).list<ServerBody>("/admin/servers");
    await started.admin("DELETE", `/admin/servers/${server?.server_id}`);
    expect((await restart("simulator")).app.demoToken).toBeUndefined();
  });

  test("when the demo server was given a real key: it is not the demo any more", async () => {
    await restart("simulator");
    const started = await restart("real");
    const [server] = await createOperator(started).list<ServerBody>("/admin/servers");
    await started.admin("PATCH", `/admin/servers/${server?.server_id}`, { server_key: "real-Key" });
    expect((await restart("simulator")).app.demoToken).toBeUndefined();
  });

  test("when there are servers of a real game API, which the start names as parked", async () => {
    await createOperator(await restart("real")).addServer({ name: "Real town" });
    const started = await restart("simulator");
    expect(started.app.demoToken).toBeUndefined();
    expect((await createOperator(started).list<ServerBody>("/admin/servers")).length).toBe(1);
    await until("the log does not name the parked server", () => {
      return started.logLines.some((line) => line.includes("Real town") && line.includes("GATEHOUSE_UPSTREAM_URL"));
    });
  });
});

describe("servers of an older version, which marked none,", () => {
  async function makeOld(): Promise<{ demoToken: string; realToken: string }> {
    const demoToken = (await restart("simulator")).app.demoToken ?? "";
    const operator = createOperator(await restart("real"));
    const { token: realToken } = await operator.addKey(await operator.addServer({ name: "Real town" }));
    await gatehouse?.stop();
    const db = new Database(join(folder, "gatehouse.db"));
    makeSchema4(db);
    db.exec("DELETE FROM settings WHERE name = 'old-demo-server'");
    db.close();
    return { demoToken, realToken };
  }

  test("are the simulator's if they have the demo's key, and else of a real game API: upgraded with a real one", async () => {
    const { demoToken, realToken } = await makeOld();
    rmSync(join(folder, "demo.key"));
    await restart("real");
    expect(await statusOf(realToken)).toBe(200);
    expect(await statusOf(demoToken)).toBe(400);
    expect(api.calls.map(({ headers }) => headers.get("server-key"))).toEqual(["test-Server"]);
  });

  test("and the same when upgraded with the simulator: nothing is made up for the real one", async () => {
    const { demoToken, realToken } = await makeOld();
    expect((await restart("simulator")).app.demoToken).toBe(demoToken);
    expect(await statusOf(demoToken)).toBe(200);
    expect(await statusOf(realToken)).toBe(400);
  });
});
