// Starts with GATEHOUSE_ARCHIVE: which settings are faults, and what a PostgreSQL that is too old, absent or closed to us
// means for a start.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { connect, createServer, type Server, type Socket } from "node:net";
import { ArchiveUnavailable } from "../../src/core/errors.ts";
import { openPostgresArchive } from "../../src/database/archive/open-archive.ts";
import { parseConfig } from "../../src/instance/config.ts";
import { listPageBlocks } from "../docs/page-blocks.ts";
import { type PostgresServer, startPostgres, stopPostgresServers } from "../postgres-server.ts";
import { type Listening, runToEnd, serve, stop } from "../run-gatehouse.ts";
import { cleanUp, makeFolder } from "../temporary.ts";
import { until } from "../until.ts";
import { addEvents, kills, readAll } from "./ledger-samples.ts";

let server: PostgresServer;
let proxy: OldPostgres;

beforeAll(async () => {
  server = await startPostgres();
  proxy = await OldPostgres.start(server);
});
afterEach(cleanUp);
afterAll(async () => {
  proxy.stop();
  await stopPostgresServers();
});

/** A real PostgreSQL that says that it is version 14. */
class OldPostgres {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  isOld = true;

  constructor(target: PostgresServer) {
    this.#server = createServer((client) => {
      const upstream = connect(target.port, "127.0.0.1");
      for (const socket of [client, upstream]) {
        this.#sockets.add(socket);
        socket.on("error", () => {});
        socket.on("close", () => {
          client.destroy();
          upstream.destroy();
        });
      }
      client.pipe(upstream);
      upstream.on("data", (bytes) => {
        const text = bytes.toString("latin1");
        const told = this.isOld ? text.replace(/1[5-9]00(\d\d)/g, "1400$1") : text;
        client.write(Buffer.from(told, "latin1"));
      });
    });
  }

  static async start(target: PostgresServer): Promise<OldPostgres> {
    const started = new OldPostgres(target);
    const { promise, resolve } = Promise.withResolvers<void>();
    started.#server.listen(0, "127.0.0.1", resolve);
    await promise;
    return started;
  }

  urlOf(url: string): string {
    const address = this.#server.address();
    const through = new URL(url);
    through.port = String(typeof address === "object" && address ? address.port : 0);
    return through.href;
  }

  stop(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

const faultsOf = (env: Record<string, string>) => {
  try {
    parseConfig(env);
    return "";
  } catch (error) {
    return (error as Error).message;
  }
};

describe("the setting", () => {
  test("that is something else is a fault, without the value in it", () => {
    for (const archive of ["mysql://u:s3cr3t@h/x", "postgres:///x", "postgres://u:s3cr3t%@h/x", "yes-s3cr3t"]) {
      const fault = faultsOf({ GATEHOUSE_ARCHIVE: archive });
      expect(fault).toContain("GATEHOUSE_ARCHIVE must");
      expect(fault).not.toContain("s3cr3t");
    }
  });
});

describe("a PostgreSQL", () => {
  test.each(["GATEHOUSE_STORE", "GATEHOUSE_ARCHIVE"])("older than 15 as %s ends the start with 2", async (name) => {
    const env = { GATEHOUSE_PORT: "0", [name]: proxy.urlOf(await server.createDatabase()) };
    const { exitCode, stderr, stdout } = await runToEnd(["serve"], { cwd: makeFolder(), env });
    expect(stderr).toContain(`${name} cannot be used: PostgreSQL 14 is too old; Gatehouse needs 15 or newer`);
    expect([exitCode, stdout]).toEqual([2, ""]);
  });

  test("that is absent at the start and too old when it comes stays unavailable, and says why", async () => {
    const archive = openPostgresArchive(proxy.urlOf(await server.createDatabase()));
    try {
      for (let time = 0; time < 2; time++) {
        const error = await archive.load("srv_a").catch((caught) => caught);
        expect(error).toBeInstanceOf(ArchiveUnavailable);
        expect(error.message).toBe("PostgreSQL 14 is too old; Gatehouse needs 15 or newer");
      }
      // Updated, it is used without a restart.
      proxy.isOld = false;
      await addEvents(archive, kills(2));
      expect(await readAll(archive)).toHaveLength(2);
    } finally {
      proxy.isOld = true;
      await archive.close();
    }
  });

  test("that is absent does not stop a start, and is used when it comes", async () => {
    const url = await server.createDatabase();
    await server.stop();
    let gatehouse: Listening;
    try {
      gatehouse = await serve({ cwd: makeFolder(), env: { GATEHOUSE_ARCHIVE: url } });
      expect(gatehouse.stderr).toContain("the archive cannot be used");
      await until("there is no notice", async () => (await listNotices(gatehouse.url)).length === 1);
    } finally {
      await server.start();
    }
    await until("the notice stays", async () => (await listNotices(gatehouse.url)).length === 0);
    expect(await stop(gatehouse)).toBe(0);
  });

  test("whose user may not create tables is unavailable, and is used once it may", async () => {
    const url = await server.createDatabase();
    await server.ask("CREATE USER poor PASSWORD 's3cr3t'");
    const archive = openPostgresArchive(url.replace("gatehouse@", "poor:s3cr3t@"));
    try {
      const error = await archive.load("srv_a").catch((caught) => caught);
      expect(error).toBeInstanceOf(ArchiveUnavailable);
      expect(error.message).toContain("permission denied");
      expect(error.message).not.toContain("s3cr3t");
      await server.ask(`GRANT CREATE ON DATABASE ${new URL(url).pathname.slice(1)} TO poor`, url);
      await addEvents(archive, kills(2));
    } finally {
      await archive.close();
    }
  });
});

test("a PostgreSQL that does not let us in is unavailable, and is used once it does", async () => {
  const url = await server.createDatabase();
  await server.ask(
    `CREATE ROLE outside NOLOGIN; GRANT CREATE ON DATABASE ${new URL(url).pathname.slice(1)} TO outside`,
    url,
  );
  const archive = openPostgresArchive(url.replace("gatehouse@", "outside:s3cr3t@"));
  try {
    const error = await archive.load("srv_a").catch((caught) => caught);
    expect(error).toBeInstanceOf(ArchiveUnavailable);
    expect(error.message).not.toContain("s3cr3t");
    await server.ask("ALTER ROLE outside LOGIN", url);
    await addEvents(archive, kills(2));
  } finally {
    await archive.close();
  }
});

test("the database is set up, dumped and restored as docs/deploying.md says", async () => {
  const blocks = listPageBlocks("docs/deploying.md");
  const statements = (blocks.find(({ language }) => language === "sql")?.text ?? "").split(";\n");
  expect(statements).toHaveLength(3);
  // The server of the tests has a user with the page's name already.
  const rename = (text: string) => text.replace(/\bgatehouse\b/g, "documented");
  for (const statement of statements.slice(0, 2)) await server.ask(rename(statement));
  const cwd = makeFolder();
  const runBlock = async (words: string) => {
    const block = blocks.find(({ text }) => text.startsWith(words));
    await Bun.$`sh -c ${rename(block?.text ?? "false").replace(":5432/", `:${server.port}/`)}`.cwd(cwd).quiet();
  };
  const url = `postgres://documented:choose-a-password@127.0.0.1:${server.port}/documented`;
  const archive = openPostgresArchive(url);
  const restored = openPostgresArchive(url);
  try {
    await archive.check();
    const { last } = await addEvents(archive, kills(2));
    await runBlock("pg_dump ");
    await addEvents(archive, kills(3, 10));
    await archive.close();
    await runBlock("pg_restore ");
    expect(await readAll(restored)).toHaveLength(2);
    expect(await restored.findLast(["srv_a"])).toEqual(new Map([["srv_a", last]]));
  } finally {
    await archive.close();
    await restored.close();
  }
});

async function listNotices(url: string): Promise<readonly unknown[]> {
  const answer = await fetch(`${url}/readyz`);
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { notices: unknown[] }).notices;
}
