// Starts real PostgreSQL processes for tests, each with a folder and a port of its own. When the tests are run by the
// superuser, the server runs as the user postgres, because it refuses to run as root. `stopPostgresServers`, or the end of
// the test process, stops them all.
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { findFreePort } from "./temporary.ts";
import { within } from "./until.ts";

const START_DEADLINE_MS = 60_000;
const QUIT_WITHIN_MS = 15_000;
const POLL_EVERY_MS = 20;
const DEBIAN_FOLDER = "/usr/lib/postgresql";

type Process = ReturnType<typeof Bun.spawn>;

const running = new Set<Process>();
const servers = new Set<PostgresServer>();
const folders = new Set<string>();
/** Has a cluster that is never started, but copied for each server: initdb takes a second of processor time. */
let emptyFolder: string | undefined;

process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  if (emptyFolder !== undefined) rmSync(emptyFolder, { recursive: true, force: true });
});

export async function stopPostgresServers(): Promise<void> {
  await Promise.all([...servers].map((server) => server.discard()));
  servers.clear();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  folders.clear();
}

export async function startPostgres(settings: readonly string[] = []): Promise<PostgresServer> {
  const folder = makeFolder();
  folders.add(folder);
  const data = join(folder, "data");
  copyCluster(data);
  const server = new PostgresServer(data, folder, findFreePort(), settings);
  servers.add(server);
  await server.start();
  return server;
}

/** For the user of the server. */
function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "gatehouse-postgres-"));
  const owner = findOwner();
  if (owner) chownSync(folder, owner.uid, owner.gid);
  return folder;
}

function copyCluster(data: string): void {
  emptyFolder ??= makeEmptyCluster();
  const copied = Bun.spawnSync(["cp", "-a", join(emptyFolder, "data"), data]);
  if (copied.exitCode !== 0) throw new Error(`the empty cluster could not be copied: ${copied.stderr}`);
}

function makeEmptyCluster(): string {
  const folder = makeFolder();
  const initdb = [programPath("initdb"), "-D", join(folder, "data"), "-U", "gatehouse", "-A", "trust", "-E", "UTF8"];
  const made = Bun.spawnSync([...asOwner(), ...initdb, "--no-sync", "--locale=C"], { cwd: folder });
  if (made.exitCode !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  return folder;
}

export class PostgresServer {
  readonly port: number;
  readonly folder: string;
  readonly #command: readonly string[];
  #child: Process | undefined;
  #databases = 0;
  /** The databases that are copied, by what has filled them. */
  readonly #filled = new Map<(url: string) => Promise<void>, Promise<string>>();

  constructor(data: string, folder: string, port: number, settings: readonly string[]) {
    this.port = port;
    this.folder = folder;
    const options = ["listen_addresses=127.0.0.1", "fsync=off", "max_connections=200", ...settings];
    this.#command = [
      ...[...asOwner(), programPath("postgres"), "-D", data, "-p", String(port), "-k", folder],
      ...options.flatMap((option) => ["-c", option]),
    ];
  }

  urlOf(database = "postgres"): string {
    return `postgres://gatehouse@127.0.0.1:${this.port}/${database}`;
  }

  /** Creates an empty database and returns its URL. */
  async createDatabase(): Promise<string> {
    return this.urlOf(await this.#create());
  }

  /** Creates a database as `fill` leaves an empty one. It is filled once and then copied, because migrations take longer. */
  async createFilledDatabase(fill: (url: string) => Promise<void>): Promise<string> {
    const filled = this.#filled.get(fill) ?? this.#createFilled(fill);
    this.#filled.set(fill, filled);
    return this.urlOf(await this.#create(await filled));
  }

  async #createFilled(fill: (url: string) => Promise<void>): Promise<string> {
    const name = await this.#create();
    await fill(this.urlOf(name));
    return name;
  }

  async #create(template = "template1"): Promise<string> {
    const name = `test_${++this.#databases}`;
    await this.ask(`CREATE DATABASE ${name} TEMPLATE ${template}`);
    return name;
  }

  /** `folder` is given to the user of the server. */
  async createTablespace(name: string, folder: string): Promise<void> {
    const owner = findOwner();
    if (owner) chownSync(folder, owner.uid, owner.gid);
    await this.ask(`CREATE TABLESPACE ${name} LOCATION '${folder}'`);
  }

  async ask(query: string, url = this.urlOf()): Promise<unknown[]> {
    const sql = new SQL(url, { max: 1 });
    try {
      return await sql.unsafe(query);
    } finally {
      await sql.close({ timeout: 1 });
    }
  }

  /** Tries again when it ends at once: a session that dies slowly, or another program on the port, may be in its way. */
  async start(): Promise<void> {
    const deadline = performance.now() + START_DEADLINE_MS;
    let child = this.#spawn();
    while (!(await this.#isReady())) {
      if (performance.now() > deadline) throw new Error(`postgres did not start: ${this.#readLog()}`);
      await Bun.sleep(POLL_EVERY_MS);
      if (child.exitCode !== null) child = this.#spawn();
    }
  }

  #spawn(): Process {
    const stderr = Bun.file(this.#logPath);
    const child = Bun.spawn([...this.#command], {
      cwd: this.folder,
      stdin: "ignore",
      stdout: "ignore",
      stderr,
    });
    running.add(child);
    void child.exited.then(() => running.delete(child));
    this.#child = child;
    return child;
  }

  get #logPath(): string {
    return join(this.folder, "log");
  }

  #readLog(): string {
    return existsSync(this.#logPath) ? readFileSync(this.#logPath, "utf8").slice(-500) : "";
  }

  async stop(): Promise<void> {
    await this.#end("SIGINT");
  }

  /** Ends the server and all its sessions at once, without a shutdown. */
  async kill(): Promise<void> {
    const sessions = this.#sessions();
    await this.#end("SIGKILL");
    for (const pid of sessions) endProcess(pid, "SIGKILL");
    rmSync(join(this.folder, "data/postmaster.pid"), { force: true });
  }

  /** Ends the server whatever its state is, because nobody needs its data any more. */
  async discard(): Promise<void> {
    const child = this.#child;
    if (!child || !running.has(child)) return;
    // A test that failed may have left it suspended.
    this.thaw();
    child.kill("SIGQUIT");
    await within(QUIT_WITHIN_MS, child.exited, "postgres does not end").catch(() => this.kill());
  }

  /** Suspends the server and all its sessions: connections stay open and get no replies. */
  freeze(): void {
    for (const pid of [this.#getChild().pid, ...this.#sessions()]) endProcess(pid, "SIGSTOP");
  }

  thaw(): void {
    for (const pid of [this.#getChild().pid, ...this.#sessions()]) endProcess(pid, "SIGCONT");
  }

  async #isReady(): Promise<boolean> {
    return this.ask("SELECT 1").then(
      () => true,
      () => false,
    );
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#getChild();
    child.kill(signal);
    await child.exited;
  }

  #sessions(): number[] {
    const found = Bun.spawnSync(["pgrep", "-P", String(this.#getChild().pid)]);
    return found.stdout.toString().split("\n").filter(Boolean).map(Number);
  }

  #getChild(): Process {
    if (!this.#child) throw new Error("postgres was not started");
    return this.#child;
  }
}

function endProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended already.
  }
}

/** Why no server can be started; undefined when one can. */
export function findPostgresObstacle(): string | undefined {
  return findProgram("postgres") ? undefined : "PostgreSQL is not installed";
}

function programPath(name: string): string {
  const path = findProgram(name);
  if (!path) throw new Error("the tests need PostgreSQL; scripts/test.sh installs it");
  return path;
}

/** Debian keeps the server's programs outside of the path, one folder for each version. */
function findProgram(name: string): string | null {
  const versions = existsSync(DEBIAN_FOLDER) ? readdirSync(DEBIAN_FOLDER) : [];
  const newestFirst = versions.toSorted((a, b) => Number(b) - Number(a));
  const found = newestFirst
    .map((version) => join(DEBIAN_FOLDER, version, "bin", name))
    .find((path) => existsSync(path));
  return found ?? Bun.which(name);
}

/** The user that runs the server; undefined when it is the user of the tests. */
function findOwner(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (flag: string) => Number(Bun.spawnSync(["id", flag, "postgres"]).stdout.toString());
  return { uid: idOf("-u"), gid: idOf("-g") };
}

/** setpriv replaces itself by the server, so that signals reach the server, and ends it with the tests. */
function asOwner(): string[] {
  const owner = findOwner();
  const change = owner ? [`--reuid=${owner.uid}`, `--regid=${owner.gid}`, "--clear-groups"] : [];
  return ["setpriv", ...change, "--pdeathsig", "INT"];
}
