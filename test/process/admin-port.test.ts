// Operators on a listener of their own, as a process: what it prints, who finds it, TLS, and stopping.
import { afterEach, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeCertificate } from "../make-certificate.ts";
import { openSocket } from "../raw-socket.ts";
import { type Listening, runToEnd, serve } from "../run-gatehouse.ts";
import { cleanUp, findFreePort, makeFolder, undoLater } from "../temporary.ts";
import { until } from "../until.ts";

const INSECURE = { tls: { rejectUnauthorized: false } };

afterEach(cleanUp);

async function findAdminUrl(gatehouse: Listening): Promise<string> {
  return /(https?:\S+)$/.exec(await gatehouse.waitForLine("for operators"))?.[1] ?? "";
}

async function isRefused(port: number): Promise<boolean> {
  try {
    (await openSocket({ port })).destroy();
    return false;
  } catch {
    return true;
  }
}

test("the line that programs wait for names the public port, and a line for people names the other", async () => {
  const gatehouse = await serve({ cwd: makeFolder(), env: { GATEHOUSE_ADMIN_PORT: "0" } });
  const adminUrl = await findAdminUrl(gatehouse);
  const lines = gatehouse.stdout.trimEnd().split("\n");
  expect(lines.slice(-2)).toEqual([`gatehouse listening on ${gatehouse.url}`, `gatehouse for operators: ${adminUrl}`]);
  expect(lines.filter((line) => line.includes("listening on"))).toHaveLength(1);
  expect((await fetch(`${adminUrl}/admin/servers`)).status).toBe(401);
  expect((await fetch(`${gatehouse.url}/admin/servers`)).status).toBe(404);
});

test("the command line finds the operators' port in the settings, and doctor the instance", async () => {
  const cwd = makeFolder();
  const env = { GATEHOUSE_PORT: String(findFreePort()), GATEHOUSE_ADMIN_PORT: String(findFreePort()) };
  await serve({ cwd, env });
  const listed = await runToEnd(["servers", "list", "--json"], { cwd, env });
  expect(listed).toMatchObject({ exitCode: 0, stderr: "" });
  const wrongPort = ["servers", "list", "--url", `http://127.0.0.1:${env.GATEHOUSE_PORT}`];
  const lost = await runToEnd(wrongPort, { cwd, env });
  expect(lost).toMatchObject({ exitCode: 3, stderr: expect.stringContaining("GATEHOUSE_ADMIN_PORT") });
  const doctor = await runToEnd(["doctor", "--json"], { cwd, env });
  const { checks } = JSON.parse(doctor.stdout) as { checks: { name: string; result: string }[] };
  expect(checks.find(({ name }) => name === "instance")?.result).toBe("ok");
});

test("both have the certificate, and both get a new one on SIGHUP", async () => {
  const cwd = makeFolder();
  const write = ({ cert, key }: { cert: string; key: string }) => {
    writeFileSync(join(cwd, "cert.pem"), cert);
    writeFileSync(join(cwd, "key.pem"), key);
  };
  write(await makeCertificate());
  const env = {
    GATEHOUSE_ADMIN_PORT: "0",
    GATEHOUSE_TLS_CERT: join(cwd, "cert.pem"),
    GATEHOUSE_TLS_KEY: join(cwd, "key.pem"),
  };
  const gatehouse = await serve({ cwd, env });
  const adminUrl = await findAdminUrl(gatehouse);
  expect(adminUrl).toStartWith("https:");
  const headers = { Authorization: `Bearer ${readFileSync(join(cwd, "data", "master.key"), "utf8").trim()}` };
  expect((await fetch(`${adminUrl}/admin/servers`, { headers, ...INSECURE })).status).toBe(200);
  expect((await fetch(`${gatehouse.url}/admin/servers`, { headers, ...INSECURE })).status).toBe(404);

  const ports = [gatehouse.port, Number(new URL(adminUrl).port)];
  const readFingerprints = () =>
    Promise.all(
      ports.map(async (port) => {
        const socket = await openSocket({ port }, { rejectUnauthorized: false });
        undoLater(() => socket.destroy());
        return socket.peerFingerprint;
      }),
    );
  const [before] = await readFingerprints();
  write(await makeCertificate());
  gatehouse.kill("SIGHUP");
  await until("the old certificate is still in use", async () =>
    (await readFingerprints()).every((fingerprint) => fingerprint !== before),
  );
  expect(new Set(await readFingerprints()).size).toBe(1);
});

test("a stop closes both", async () => {
  const gatehouse = await serve({ cwd: makeFolder(), env: { GATEHOUSE_ADMIN_PORT: "0" } });
  const adminPort = Number(new URL(await findAdminUrl(gatehouse)).port);
  gatehouse.kill("SIGTERM");
  expect(await gatehouse.exited).toBe(0);
  expect([await isRefused(gatehouse.port), await isRefused(adminPort)]).toEqual([true, true]);
});

test("a port in use is named with its setting, and nothing stays open", async () => {
  const busy = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  undoLater(() => busy.stop(true));
  const env = { GATEHOUSE_PORT: "0", GATEHOUSE_ADMIN_PORT: String(busy.port) };
  const { exitCode, stdout, stderr } = await runToEnd(["serve"], { cwd: makeFolder(), env });
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  expect(stderr).toContain("set GATEHOUSE_ADMIN_PORT to another port");
});

test("all faults of its settings are reported together", async () => {
  const faultsOf = async (env: Record<string, string>) => {
    const { exitCode, stderr } = await runToEnd(["serve"], { cwd: makeFolder(), env });
    expect(exitCode).toBe(2);
    return stderr;
  };
  const both = await faultsOf({
    GATEHOUSE_ADMIN_PORT: "many",
    GATEHOUSE_ADMIN_HOST: "no host",
    GATEHOUSE_PORT: "x",
  });
  expect(both).toContain("GATEHOUSE_ADMIN_PORT must be a whole number from 0 to 65535");
  expect(both).toContain("GATEHOUSE_ADMIN_HOST must be an address");
  expect(both).toContain("GATEHOUSE_PORT must be a whole number");
  expect(await faultsOf({ GATEHOUSE_ADMIN_HOST: "127.0.0.1" })).toContain("needs GATEHOUSE_ADMIN_PORT");
  expect(await faultsOf({ GATEHOUSE_ADMIN_PORT: "8080" })).toContain("another port than GATEHOUSE_PORT");
});

test("without a word about the port, the command line and doctor find the instance by its data folder", async () => {
  const cwd = makeFolder();
  await serve({ cwd });
  expect(await runToEnd(["servers", "list", "--json"], { cwd })).toMatchObject({ exitCode: 0, stderr: "" });
  expect(await runToEnd(["doctor", "--ready"], { cwd })).toMatchObject({ exitCode: 0, stderr: "" });
});
