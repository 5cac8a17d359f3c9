// The slow clients of the run `slow`, in a process of their own: opens sockets that say too little or read too little, notes
// how long each is kept, and prints two lines of JSON: when all are open, and when all are cut or the wait is over.
import { readSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { listSockets, NO_INODE, parseKernelAddress } from "../../src/http/socket/listening-socket.ts";
import { writeRequest } from "../raw-socket.ts";

export const KINDS = [
  "says nothing",
  "half a request line",
  "headers a byte at a time",
  "headers that never end",
  "a body a byte at a time",
  "a body that stops",
  "reads nothing of a large answer",
  "reads a large answer a few bytes at a time",
] as const;
type Kind = (typeof KINDS)[number];

export type SlowClientsOptions = {
  readonly port: number;
  readonly count: number;
  /** How many of them read a large answer; the kernel keeps about a megabyte for each. */
  readonly readers: number;
  /** How long opening them takes. */
  readonly connectMs: number;
  readonly tokens: readonly string[];
  /** Of a server with a large answer. */
  readonly largePath: string;
};

export type KindOutcome = {
  readonly kind: Kind;
  readonly sockets: number;
  /** Closed by the other side. */
  readonly cut: number;
  readonly longestKeptMs: number;
  /** Could not connect, or were told something else than is meant for the kind. */
  readonly failed: number;
};

/** Below the default limit of connections from one address. */
const CONNECTIONS_PER_ADDRESS = 1_000;
const BATCH_MS = 1;
const DRIP_MS = 1_000;
const LOOK_MS = 500;
/** How long the last one is waited for. */
const WAIT_MS = 30_000;
const FEW_BYTES = 16;
const COMMAND_PATH = "/v2/game/server/command";
const BODY_HEADERS = ["Content-Type: application/json", "Content-Length: 1000"];
/** What a socket of a kind is told before it is cut; the others are told nothing. */
const ANSWERS: Readonly<Partial<Record<Kind, RegExp>>> = {
  "a body a byte at a time": /^HTTP\/1\.1 400 /,
  "a body that stops": /^HTTP\/1\.1 400 /,
  "reads nothing of a large answer": /^HTTP\/1\.1 200 /,
  "reads a large answer a few bytes at a time": /^HTTP\/1\.1 200 /,
};
const NOTHING = /^$/;

type Slow = {
  readonly kind: Kind;
  readonly socket: Socket;
  openedAt: number;
  keptMs: number | undefined;
  /** The first bytes of what it was told. */
  beginning: string;
};

class SlowClients {
  readonly #options: SlowClientsOptions;
  readonly #all: Slow[] = [];
  #keyed = 0;

  constructor(options: SlowClientsOptions) {
    this.#options = options;
  }

  async openAll(): Promise<void> {
    const { count, connectMs } = this.#options;
    const startedAt = performance.now();
    while (this.#all.length < count) {
      const due = Math.ceil((count * (performance.now() - startedAt + BATCH_MS)) / connectMs);
      while (this.#all.length < Math.min(due, count)) this.#open(this.#all.length);
      await Bun.sleep(BATCH_MS);
    }
  }

  /** Sends and reads a little of what is due, until all are cut or the wait is over. */
  async holdAll(): Promise<KindOutcome[]> {
    const drips = setInterval(() => this.#drip(), DRIP_MS);
    await this.openAll();
    console.log("{}");
    const until = performance.now() + WAIT_MS;
    while (performance.now() < until && this.#all.some(({ keptMs }) => keptMs === undefined)) {
      await Bun.sleep(LOOK_MS);
      await this.#findCutReaders();
    }
    clearInterval(drips);
    return KINDS.map((kind) => summarize(kind, this.#all));
  }

  #open(at: number): void {
    const { port, count, readers } = this.#options;
    const localAddress = `127.0.1.${1 + Math.floor(at / CONNECTIONS_PER_ADDRESS)}`;
    const socket = connect({ port, host: "127.0.0.1", localAddress });
    const slow: Slow = {
      kind: chooseKind(at, count, readers),
      socket,
      openedAt: Number.NaN,
      keptMs: undefined,
      beginning: "",
    };
    this.#all.push(slow);
    socket.once("connect", () => {
      slow.openedAt = performance.now();
      if (isReader(slow)) socket.pause();
      else socket.on("data", (bytes: Buffer) => noteBeginning(slow, bytes));
      socket.write(this.#beginningOf(slow));
    });
    socket.on("error", () => noteCut(slow));
    socket.on("end", () => noteCut(slow));
    socket.on("close", () => noteCut(slow));
  }

  #beginningOf({ kind }: Slow): string {
    const { largePath } = this.#options;
    switch (kind) {
      case "says nothing":
        return "";
      case "half a request line":
        return "GET /v2/game/ser";
      case "headers a byte at a time":
        return "GET /healthz HTTP/1.1\r\nHost: x\r\nX: ";
      case "headers that never end":
        return "GET /healthz HTTP/1.1\r\nHost: x\r\n";
      case "a body a byte at a time":
      case "a body that stops":
        return `${writeRequest(COMMAND_PATH, [this.#nextKey(), ...BODY_HEADERS], "POST")}{`;
      case "reads nothing of a large answer":
      case "reads a large answer a few bytes at a time":
        return writeRequest(largePath, [this.#nextKey()]);
    }
  }

  #nextKey(): string {
    const { tokens } = this.#options;
    return `Authorization: Bearer ${tokens[this.#keyed++ % tokens.length]}`;
  }

  #drip(): void {
    for (const slow of this.#all) {
      const { kind, socket, openedAt, keptMs } = slow;
      if (Number.isNaN(openedAt) || keptMs !== undefined) continue;
      if (kind === "headers a byte at a time" || kind === "a body a byte at a time") socket.write("y");
      if (kind === "headers that never end") socket.write(`X-${"x".repeat(20)}: y\r\n`);
      if (kind === "reads a large answer a few bytes at a time") readFewBytes(slow);
    }
  }

  /** A reader that does not read is not told that it was cut, so the kernel's table is asked. */
  async #findCutReaders(): Promise<void> {
    const waiting = this.#all.filter((slow) => isReader(slow) && slow.keptMs === undefined);
    if (waiting.length === 0) return;
    const sockets = await listSockets(this.#options.port);
    const open = new Set(
      sockets
        .filter(({ inode }) => inode !== NO_INODE)
        .map(({ remote }) => {
          const [address = "", port = ""] = remote.split(":");
          return `${parseKernelAddress(address)}:${Number.parseInt(port, 16)}`;
        }),
    );
    for (const slow of waiting) {
      const { localAddress, localPort } = slow.socket;
      // The kernel accepts a little later than it tells the client.
      const isNew = !(performance.now() - slow.openedAt > DRIP_MS);
      if (isNew || open.has(`${localAddress}:${localPort}`)) continue;
      readFewBytes(slow);
      noteCut(slow);
    }
  }
}

/** Readers are spread evenly among the others. */
function chooseKind(at: number, count: number, readers: number): Kind {
  const before = Math.floor((at * readers) / count);
  const reader = Math.floor(((at + 1) * readers) / count);
  return (reader > before ? KINDS[6 + (before % 2)] : KINDS[(at - before) % 6]) ?? KINDS[0];
}

function isReader({ kind }: Slow): boolean {
  return KINDS.indexOf(kind) >= 6;
}

function noteCut(slow: Slow): void {
  slow.keptMs ??= performance.now() - slow.openedAt;
  slow.socket.destroy();
}

function noteBeginning(slow: Slow, bytes: Buffer): void {
  if (slow.beginning === "") slow.beginning = bytes.toString("latin1", 0, FEW_BYTES);
}

/** Below the socket of the runtime, which would take all that has come. */
function readFewBytes(slow: Slow): void {
  const { fd } = (slow.socket as unknown as { readonly _handle: { readonly fd: number } | null })._handle ?? {};
  if (fd === undefined) return;
  const bytes = Buffer.alloc(FEW_BYTES);
  try {
    const length = readSync(fd, bytes, 0, FEW_BYTES, null);
    noteBeginning(slow, bytes.subarray(0, length));
  } catch {
    // Nothing has come, or the connection was reset.
  }
}

function summarize(kind: Kind, all: readonly Slow[]): KindOutcome {
  const slow = all.filter((one) => one.kind === kind);
  const cut = slow.filter(({ keptMs }) => keptMs !== undefined && !Number.isNaN(keptMs));
  const answer = ANSWERS[kind] ?? NOTHING;
  const failed = slow.filter(({ openedAt, beginning }) => Number.isNaN(openedAt) || !answer.test(beginning));
  return {
    kind,
    sockets: slow.length,
    cut: cut.length,
    longestKeptMs: Math.max(0, ...cut.map(({ keptMs }) => keptMs ?? 0)),
    failed: failed.length,
  };
}

if (import.meta.main) {
  const options: SlowClientsOptions = JSON.parse(process.argv[2] ?? "{}");
  console.log(JSON.stringify(await new SlowClients(options).holdAll()));
  process.exit(0);
}
