// Faults of connections, certificates and ports are told in our own words: no code and no sentence of the runtime.
import { afterEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeByHand } from "../make-certificate.ts";
import { runToEnd, serve } from "../run-gatehouse.ts";
import { cleanUp, makeFolder, undoLater } from "../temporary.ts";

afterEach(cleanUp);

const RUNTIME =
  /\b(?:E[A-Z]{4,}|ERR_\w+|[A-Z]+_CERT\w*)\b|Unable to connect|self signed|Is the computer|Is port|syscall|PEM_|BoringSSL|Zlib|getaddrinfo|no such file/;
const MASTER_KEY = "m".repeat(40);

function listenWithTls(): string {
  const tls = makeByHand();
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", tls, fetch: () => new Response("hello") });
  undoLater(() => server.stop(true));
  return String(server.port);
}

function listenPlainly(): string {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("hello") });
  undoLater(() => server.stop(true));
  return String(server.port);
}

/** Accepts a connection and closes it at once. */
function listenAndCut(): string {
  const listener = Bun.listen({
    port: 0,
    hostname: "127.0.0.1",
    socket: { open: (socket) => void socket.end(), data() {} },
  });
  undoLater(() => listener.stop(true));
  return String(listener.port);
}

test.each([
  ["nothing listens", () => "http://127.0.0.1:1", "nothing listens at"],
  ["a self-signed certificate", () => `https://127.0.0.1:${listenWithTls()}`, "its certificate is self-signed"],
  ["no TLS at all", () => `https://127.0.0.1:${listenPlainly()}`, "does not speak TLS"],
  ["a cut connection", () => `http://127.0.0.1:${listenAndCut()}`, "the connection was cut"],
  ["a name that does not exist", () => "https://gate.invalid", "its name cannot be resolved"],
])("the command line, with %s", async (_, makeUrl, words) => {
  const env = { GATEHOUSE_URL: makeUrl(), GATEHOUSE_MASTER_KEY: MASTER_KEY };
  const { exitCode, stderr } = await runToEnd(["keys", "list"], { cwd: makeFolder(), env });
  expect(exitCode).toBe(5);
  expect(stderr).toContain(words);
  expect(stderr).not.toMatch(RUNTIME);
});

test("doctor, with a PostgreSQL and a Redis that do not run and an instance that is not ready", async () => {
  const cwd = makeFolder();
  const env = {
    GATEHOUSE_STORE: "postgres://127.0.0.1:1/gatehouse",
    GATEHOUSE_REDIS: "redis://127.0.0.1:1",
    GATEHOUSE_PORT: "1",
  };
  const { stdout } = await runToEnd(["doctor"], { cwd, env });
  expect(stdout).toContain("PostgreSQL cannot be used");
  expect(stdout).toContain("Redis cannot be used: the connection was refused");
  expect(stdout).not.toMatch(RUNTIME);
  const ready = await runToEnd(["doctor", "--ready"], { cwd, env });
  expect(ready.stderr).toContain("is not ready (the connection was refused)");
});

test("migrate, with a PostgreSQL that does not run", async () => {
  const cwd = makeFolder();
  const env = { GATEHOUSE_SECRET: "s".repeat(32), GATEHOUSE_STORE: "postgres://127.0.0.1:1/gatehouse" };
  const { stderr } = await runToEnd(["migrate", "--to", "sqlite"], { cwd, env });
  expect(stderr).toContain("cannot be used: Failed to connect");
  expect(stderr).not.toMatch(RUNTIME);
});

test("serve, with TLS files that are missing, empty or something else", async () => {
  const cwd = makeFolder();
  writeFileSync(join(cwd, "empty.pem"), "");
  writeFileSync(join(cwd, "other.pem"), "-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n");
  for (const [file, words] of [
    ["missing.pem", "it does not exist"],
    ["empty.pem", "it is empty"],
    ["other.pem", "it does not hold"],
  ] as const) {
    const env = { GATEHOUSE_TLS_CERT: file, GATEHOUSE_TLS_KEY: file };
    const { exitCode, stderr } = await runToEnd(["serve"], { cwd, env });
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`GATEHOUSE_TLS_CERT cannot be used: ${words}`);
    expect(stderr).not.toMatch(RUNTIME);
  }
});

test("simulate, with a port in use", async () => {
  const cwd = makeFolder();
  const first = await serve({ cwd }, ["simulate", "--port", "0"]);
  const { stderr } = await runToEnd(["simulate", "--port", String(first.port)], { cwd });
  expect(stderr).toContain(`port ${first.port}: the address is already in use`);
  expect(stderr).not.toMatch(RUNTIME);
});
