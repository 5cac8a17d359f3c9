// The files in deploy/: each is checked with the program that reads it, if that is installed, and the proxy examples run in
// front of a real Gatehouse.
import { afterEach, describe, expect, test } from "bun:test";
import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { IMAGE_BYTES_MAX } from "../../src/core/maps/map-image.ts";
import { PNG_HEADER } from "../journeys/openapi-stage.ts";
import { makeCertificate } from "../make-certificate.ts";
import { judgingUnits, program, testWith } from "../needs.ts";
import { openSocket } from "../raw-socket.ts";

import { makeDataFolder, runToEnd, serve } from "../run-gatehouse.ts";
import { SocketReader, SseReader } from "../stream-reader.ts";
import { cleanUp, findFreePort, makeFolder, undoLater } from "../temporary.ts";
import { until } from "../until.ts";

const ROOT = resolve(import.meta.dir, "../..");
/** `systemd-analyze security` counts from 0, closed, to 10, open. */
const EXPOSURE_MAX = 2;
/** How long a stopping Gatehouse lets open requests finish; tested in test/process/stop.test.ts. */
const DRAIN_SECONDS = 10;

afterEach(cleanUp);

function readDeployed(name: string): string {
  return readFileSync(join(ROOT, "deploy", name), "utf8");
}

async function runProgram(command: string[]): Promise<{ exitCode: number; output: string }> {
  const child = Bun.spawn(command, { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { exitCode: await child.exited, output: stdout + stderr };
}

describe("gatehouse.service", () => {
  function readSetting(name: string): string | undefined {
    return new RegExp(`^${name}=(.*)$`, "m").exec(readDeployed("gatehouse.service"))?.[1];
  }

  function writeUnits(): string[] {
    const folder = makeFolder();
    const binary = join(folder, "gatehouse");
    writeFileSync(binary, "#!/bin/sh\n");
    chmodSync(binary, 0o755);
    return ["gatehouse.service", "gatehouse-backup.service", "gatehouse-backup.timer"].map((name) => {
      const unit = join(folder, name);
      writeFileSync(unit, readDeployed(name).replace("/usr/local/bin/gatehouse", binary));
      return unit;
    });
  }

  testWith(program("systemd-analyze"))(
    "and its backup are units that systemd understands without complaint",
    async () => {
      const { exitCode, output } = await runProgram(["systemd-analyze", "verify", ...writeUnits()]);
      expect({ exitCode, output }).toEqual({ exitCode: 0, output: "" });
    },
  );

  test("is backed up with a command that there is", async () => {
    const [, , ...args] = /^ExecStart=(.*)$/m.exec(readDeployed("gatehouse-backup.service"))?.[1]?.split(" ") ?? [];
    const { folder: data } = await makeDataFolder();
    const target = makeFolder();
    const given = args.map((arg) => (arg === "/var/backups/gatehouse" ? target : arg));
    expect(given).not.toEqual(args);
    const env = { GATEHOUSE_DATA_DIR: data };
    expect(await runToEnd(["backup", ...given], { cwd: makeFolder(), env })).toMatchObject({ exitCode: 0, stderr: "" });
    expect(readdirSync(target)).toHaveLength(1);
  });

  testWith(judgingUnits)("leaves the service little to do harm with", async () => {
    const { output } = await runProgram(["systemd-analyze", "security", "--offline=yes", ...writeUnits().slice(0, 1)]);
    expect(Number(/exposure level for \S+: ([\d.]+)/.exec(output)?.[1])).toBeLessThan(EXPOSURE_MAX);
  });

  test("does not start it again after the exit code that wrong settings end it with", async () => {
    const { exitCode } = await runToEnd(["serve"], { cwd: makeFolder(), env: { GATEHOUSE_PORT: "many" } });
    expect(readSetting("RestartPreventExitStatus")).toBe(String(exitCode));
  });

  test("gives it time to finish, and lets it compile", () => {
    expect(Number(readSetting("TimeoutStopSec"))).toBeGreaterThan(DRAIN_SECONDS);
    expect(readSetting("MemoryDenyWriteExecute")).toBe("no");
  });
});

test("memory is collected in the same way from a checkout, as a service and in a container", async () => {
  const { pid } = await serve({ cwd: makeFolder() });
  const environment = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  const setting = environment.find((line) => line.startsWith("BUN_JSC_forceRAMSize="));
  expect(Number(setting?.split("=")[1])).toBe(2 ** 30);
  expect(readDeployed("gatehouse.service")).toContain(`\nEnvironment=${setting}\n`);
  expect(readFileSync(join(ROOT, "Dockerfile"), "utf8")).toContain(` ${setting}\n`);
});

describe("the container", () => {
  /** The instructions of the Dockerfile's last stage, by name. */
  const image = new Map(
    readFileSync(join(ROOT, "Dockerfile"), "utf8")
      .split(/^FROM /m)
      .at(-1)
      ?.split("\n")
      .filter((line) => /^[A-Z]+ /.test(line))
      .map((line) => [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)]),
  );

  test("has a read-only root, no rights, and its data in a volume", () => {
    const { services, volumes } = Bun.YAML.parse(readDeployed("compose.yaml")) as {
      services: { gatehouse: Record<string, unknown> };
      volumes: Record<string, unknown>;
    };
    expect(services.gatehouse).toMatchObject({
      read_only: true,
      cap_drop: ["ALL"],
      security_opt: ["no-new-privileges:true"],
      volumes: [`data:${image.get("VOLUME")}`],
    });
    expect(Number.parseInt(String(services.gatehouse.stop_grace_period), 10)).toBeGreaterThan(DRAIN_SECONDS);
    expect(Object.keys(volumes)).toEqual(["data"]);
    expect(image.get("ENV")).toContain(`GATEHOUSE_DATA_DIR=${image.get("VOLUME")}`);
    expect(Number.parseInt(image.get("USER") ?? "", 10)).toBeGreaterThan(0);
  });

  test("shares a PostgreSQL and a Valkey that ask for passwords, which have no default", () => {
    const { services } = Bun.YAML.parse(readDeployed("scaled.compose.yaml")) as {
      services: Record<string, { command?: string[]; environment?: Record<string, string> }>;
    };
    const command = services.valkey?.command ?? [];
    const password = command[command.indexOf("--requirepass") + 1] ?? "";
    expect(password).toMatch(/^\$\{REDIS_PASSWORD:\?.+\}$/);
    const ofDatabase = services.postgres?.environment?.POSTGRES_PASSWORD;
    expect(ofDatabase).toMatch(/^\$\{POSTGRES_PASSWORD:\?.+\}$/);
    expect(services["gatehouse-1"]?.environment).toMatchObject({
      GATEHOUSE_STORE: `postgres://gatehouse:${ofDatabase}@postgres:5432/gatehouse`,
      GATEHOUSE_REDIS: `redis://:${password}@valkey:6379`,
    });
  });

  test("has a health check with an existing command", async () => {
    const written = /CMD (\[.*\])$/.exec(image.get("HEALTHCHECK") ?? "")?.[1] ?? "[]";
    const [program, ...args] = JSON.parse(written) as string[];
    expect(JSON.parse(image.get("ENTRYPOINT") ?? "[]")).toEqual([program]);
    const cwd = makeFolder();
    const gatehouse = await serve({ cwd, env: { GATEHOUSE_HOST: "0.0.0.0" } });
    const env = { GATEHOUSE_HOST: "0.0.0.0", GATEHOUSE_PORT: String(gatehouse.port) };
    expect(await runToEnd(args, { cwd, env })).toMatchObject({ exitCode: 0 });
  });
});

describe("a proxy in front", () => {
  type Front = { readonly url: string; readonly gatehouse: string; readonly masterKey: string };

  const keys = new Map<Front, string>();

  async function startBehind(command: (port: number, upstream: string) => Promise<string[]>): Promise<Front> {
    const cwd = makeFolder();
    const gatehouse = await serve({ cwd, env: { GATEHOUSE_TRUST_PROXY: "127.0.0.1" } });
    const masterKey = readFileSync(join(cwd, "data", "master.key"), "utf8").trim();
    const port = findFreePort();
    const child = Bun.spawn(await command(port, `127.0.0.1:${gatehouse.port}`), {
      // Folders in which programs often create files.
      env: { ...process.env, HOME: cwd, XDG_CONFIG_HOME: cwd, XDG_DATA_HOME: cwd },
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore",
    });
    undoLater(async () => {
      child.kill("SIGTERM");
      await child.exited;
    });
    const front = { url: `https://localhost:${port}`, gatehouse: gatehouse.url, masterKey };
    const isUp = () =>
      ask(front, "/healthz").then(
        (response) => response.status === 200,
        () => false,
      );
    await until("the proxy does not answer", isUp);
    keys.set(front, await makeKeyFor(gatehouse.url, masterKey, "203.0.113.7"));
    return front;
  }

  /** A key that works only from this address, or from any. */
  async function makeKeyFor(url: string, masterKey: string, address?: string): Promise<string> {
    const headers = { Authorization: `Bearer ${masterKey}`, "Content-Type": "application/json" };
    const list = await fetch(`${url}/admin/servers`, { headers });
    const { items } = (await list.json()) as { items: { server_id: string }[] };
    const ip_allow = address === undefined ? [] : [address];
    const body = JSON.stringify({ server_id: items[0]?.server_id, label: "elsewhere", ip_allow });
    const made = await fetch(`${url}/admin/keys`, { method: "POST", headers, body });
    return ((await made.json()) as { token: string }).token;
  }

  function ask(front: Front, path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(front.url + path, { ...init, tls: { rejectUnauthorized: false } });
  }

  async function expectRightBehaviour(front: Front): Promise<void> {
    const headers = { Authorization: `Bearer ${keys.get(front)}`, "X-Forwarded-For": "203.0.113.7" };
    // A direct request comes from a trusted address, so its header counts; the proxy replaces the header of its clients.
    expect((await fetch(`${front.gatehouse}/v2/game/server`, { headers })).status).toBe(200);
    expect((await ask(front, "/v2/game/server", { headers })).status).toBe(403);
    // A body that is too large is refused by Gatehouse, with its own error body.
    const large = await ask(front, "/admin/servers", {
      method: "POST",
      headers: { Authorization: `Bearer ${front.masterKey}`, "Content-Type": "application/json" },
      body: "x".repeat(30_000),
    });
    expect(large.status).toBe(413);
    expect(await large.json()).toMatchObject({ code: 5102 });
    // A picture of a map may be larger than any other body.
    const servers = await ask(front, "/admin/servers", {
      headers: { Authorization: `Bearer ${front.masterKey}` },
    });
    const [server] = ((await servers.json()) as { items: { server_id: string }[] }).items;
    const corners = "left=-1&top=-1&right=1&bottom=1";
    const picture = await ask(front, `/admin/servers/${server?.server_id}/map-image?${corners}`, {
      method: "PUT",
      headers: { Authorization: `Bearer ${front.masterKey}` },
      body: Buffer.concat([PNG_HEADER], IMAGE_BYTES_MAX),
    });
    expect(picture.status).toBe(200);
    // No path with a backslash gets through, so that none can avoid a rule for a location.
    const tls = { rejectUnauthorized: false, servername: "localhost" };
    const socket = await openSocket({ port: Number(new URL(front.url).port) }, tls);
    undoLater(() => socket.destroy());
    const authorization = `Authorization: Bearer ${front.masterKey}`;
    for (const path of ["/v2\\game\\server", "/x\\..\\v2/game/server", "/x\\..\\admin/servers"]) {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n${authorization}\r\n\r\n`);
      expect((await socket.readAnswer())?.status).toBe(404);
    }
    expect((await ask(front, "/healthz?x=\\")).status).toBe(200);
    expect((await ask(front, "/healthz")).headers.get("strict-transport-security")).toBe("max-age=31536000");
    // Paths arrive unchanged.
    expect((await ask(front, "/v2//game/server", { headers })).status).toBe(404);
  }

  /** Streams pass the proxy: what Gatehouse says arrives although nothing follows it. */
  async function expectStreams(front: Front): Promise<void> {
    const token = await makeKeyFor(front.gatehouse, front.masterKey);
    const headers = { Authorization: `Bearer ${token}`, "Accept-Encoding": "gzip" };
    const stream = await ask(front, "/v2/game/server/events/stream", { headers });
    expect([stream.status, stream.headers.get("content-encoding")]).toEqual([200, null]);
    const reader = new SseReader(stream);
    expect((await reader.next())?.event).toBe("hello");
    await reader.cancel();
    const url = `${front.url}/v2/game/server/events/socket`;
    const socket = new SocketReader(url, headers, { rejectUnauthorized: false });
    expect((await socket.next())?.op).toBe("hello");
    socket.socket.close();
  }

  testWith(program("nginx"))(
    "nginx: the sample passes nginx -t, lets no caller forge an address, and lets streams through",
    async () => {
      const front = await startBehind(async (port, upstream) => {
        const folder = makeFolder();
        const { cert, key } = await makeCertificate();
        writeFileSync(join(folder, "cert.pem"), cert);
        writeFileSync(join(folder, "key.pem"), key, { mode: 0o600 });
        const sample = readDeployed("nginx.conf")
          .replace("127.0.0.1:8080", upstream)
          .replace("listen 80;", `listen 127.0.0.1:${findFreePort()};`)
          .replace("listen 443 ", `listen 127.0.0.1:${port} `)
          .replaceAll(/^ *listen \[::\].*$/gm, "")
          .replace(/\/etc\/letsencrypt\S+fullchain\.pem/, join(folder, "cert.pem"))
          .replace(/\/etc\/letsencrypt\S+privkey\.pem/, join(folder, "key.pem"));
        writeFileSync(join(folder, "sample.conf"), sample);
        const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
          (kind) => `${kind}_temp_path ${folder}/${kind};`,
        );
        const whole = `pid ${folder}/pid; error_log ${folder}/errors; daemon off; events {}
        http { access_log off; ${paths.join(" ")} include ${folder}/sample.conf; }`;
        writeFileSync(join(folder, "nginx.conf"), whole);
        const nginx = ["nginx", "-p", folder, "-e", join(folder, "errors"), "-c", join(folder, "nginx.conf")];
        const { exitCode, output } = await runProgram([...nginx, "-t"]);
        expect({ exitCode, output }).toMatchObject({ exitCode: 0 });
        return nginx;
      });
      await expectRightBehaviour(front);
      await expectStreams(front);
    },
  );

  testWith(program("caddy"))(
    "Caddy: the sample is valid, lets no caller forge an address, and lets streams through",
    async () => {
      const front = await startBehind(async (port, upstream) => {
        const folder = makeFolder();
        const sample = readDeployed("Caddyfile");
        writeFileSync(join(folder, "Caddyfile"), sample);
        const whole = join(folder, "whole");
        const { exitCode, output } = await runProgram([
          "caddy",
          "validate",
          "--adapter",
          "caddyfile",
          "--config",
          join(folder, "Caddyfile"),
        ]);
        expect({ exitCode, output }).toMatchObject({ exitCode: 0 });
        // No public certificate authority is available in a test, so Caddy creates its own.
        const own = `{\n\tadmin off\n\tskip_install_trust\n\tauto_https disable_redirects\n\tstorage file_system ${folder}/storage\n`;
        const local = sample
          .replace("{\n\tservers", `${own}\tservers`)
          .replace("gate.example.org {", `https://localhost:${port} {\n\ttls internal`)
          .replace("127.0.0.1:8080", upstream);
        writeFileSync(whole, local);
        return ["caddy", "run", "--adapter", "caddyfile", "--config", whole];
      });
      await expectRightBehaviour(front);
      await expectStreams(front);
    },
  );
});
