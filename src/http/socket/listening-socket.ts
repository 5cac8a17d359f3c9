// A listening socket of this process, below the runtime. The runtime can only close it together with idle connections, and
// cannot stop accepting for a while. Works on Linux with glibc; elsewhere `find` returns undefined.
import { dlopen } from "bun:ffi";
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { parseAddress } from "../../core/address.ts";

const DESCRIPTORS = "/proc/self/fd";
const SOL_SOCKET = 1;
const SO_BINDTOIFINDEX = 62;
const SOL_TCP = 6;
const TCP_DEFER_ACCEPT = 9;
const TCP_NOTSENT_LOWAT = 25;
const TCP_USER_TIMEOUT = 18;
/** How long the other end may take nothing. Longer than a stream's own deadline of 30 seconds, which says why it ends. */
const UNTAKEN_MAX_MS = 40_000;
/** Bytes that the kernel takes beyond those that are on their way to the client. */
const UNSENT_IN_KERNEL_MAX = 524_288;
const EPOLL_CTL_MOD = 3;
const SHUT_RDWR = 2;
/** Of a connection that no process has accepted, or has closed. */
export const NO_INODE = "0";
const SOCKETS_A_TURN = 500;
/** The number of a network interface that does not exist. */
const NO_INTERFACE = 0x7fff_ffff;
/** The structure epoll_event is packed on x64 only. */
const EPOLL_DATA_AT = process.arch === "x64" ? 4 : 8;

export const ESTABLISHED = "01";
const HANDSHAKING = "03";
/** The client has closed its side and may still wait for an answer. */
const HALF_CLOSED = "08";
const LISTENING = "0A";

type Libc = ReturnType<typeof openLibc>;
export type OpenConnection = {
  /** The address of the other end. */
  readonly peer: string;
  readonly peerPort: number;
  /** Names the connection within this machine. */
  readonly inode: string;
};
/** `remote` is address and port of the other end, in the kernel's hexadecimal form. */
type KernelSocket = { readonly state: string; readonly remote: string; readonly inode: string };
type Poll = { readonly epollFd: number; readonly events: number; readonly data: bigint };

/** Connections to a port, as the kernel knows them. */
export type ConnectionCounts = {
  readonly open: number;
  /** Of these, the ones that the process cannot know of yet. */
  readonly handshaking: number;
  /** Of these, the ones that the process has not accepted yet. */
  readonly waiting: number;
};

export class ListeningSocket {
  #isClosed = false;

  /** The socket that listens on this port; undefined when it cannot be controlled on this system. */
  static async find(port: number): Promise<ListeningSocket | undefined> {
    if (process.platform !== "linux") return undefined;
    try {
      const inodes = (await listSockets(port)).filter(({ state }) => state === LISTENING);
      const fds = listDescriptors();
      const fd = fds.find(({ link }) => inodes.some(({ inode }) => link === `socket:[${inode}]`))?.fd;
      return fd === undefined ? undefined : new ListeningSocket(openLibc(), port, fd, findPoll(fds, fd));
    } catch {
      // No /proc, or another C library: the runtime's own means must do.
      return undefined;
    }
  }

  private constructor(
    private readonly libc: Libc,
    private readonly port: number,
    private readonly fd: number,
    private readonly poll: Poll | undefined,
  ) {}

  /**
   * Limits what the kernel takes of an answer that the client does not read. Otherwise it takes megabytes at once, which holds
   * up other requests, and keeps them for a reader that has stopped. Connections whose other end takes nothing that was sent,
   * because it is dead or does not read, are closed; by default the kernel tries for a quarter of an hour.
   */
  limitUnsent(): void {
    this.libc.setsockopt(this.fd, SOL_TCP, TCP_NOTSENT_LOWAT, new Int32Array([UNSENT_IN_KERNEL_MAX]), 4);
    this.libc.setsockopt(this.fd, SOL_TCP, TCP_USER_TIMEOUT, new Int32Array([UNTAKEN_MAX_MS]), 4);
  }

  /** From now on a connection is accepted before its first byte. By default the kernel holds it back for a second. */
  acceptSilentConnections(): void {
    this.libc.setsockopt(this.fd, SOL_TCP, TCP_DEFER_ACCEPT, new Int32Array([0]), 4);
  }

  /**
   * New connections are refused; those whose handshake has begun can still be accepted. A socket that is bound to an interface
   * gets handshakes from that one only.
   */
  refuseHandshakes(): void {
    this.libc.setsockopt(this.fd, SOL_SOCKET, SO_BINDTOIFINDEX, new Int32Array([NO_INTERFACE]), 4);
  }

  /** Ends it; connections that the runtime has accepted go on, those that it has not are reset. Does nothing without a free descriptor. */
  close(): void {
    if (this.#isClosed) return;
    // The number stays in use: the runtime closes it later, and it must not be another file's by then.
    const placeholder = openPlaceholder();
    if (placeholder === undefined) return;
    this.#isClosed = true;
    this.libc.dup2(placeholder, this.fd);
    closeSync(placeholder);
  }

  /** Leaves new connections in the kernel's queue. Returns false when that is not possible. */
  pause(): boolean {
    return this.#setEvents(0);
  }

  resume(): void {
    this.#setEvents(this.poll?.events ?? 0);
  }

  /** Undefined without a free descriptor. */
  async countConnections(): Promise<ConnectionCounts | undefined> {
    const sockets = await listSockets(this.port).catch(() => undefined);
    if (!sockets) return undefined;
    const states = sockets.map(({ state }) => state);
    const handshaking = states.filter((state) => state === HANDSHAKING).length;
    const complete = sockets.filter(({ state }) => state === ESTABLISHED || state === HALF_CLOSED);
    const waiting = complete.filter(({ inode }) => inode === NO_INODE).length;
    return { open: complete.length + handshaking, handshaking, waiting };
  }

  /** False when there are certainly not more connections than this to the port. */
  mayHaveMoreThan(count: number): boolean {
    return countTcpSockets() > count;
  }

  /** Those that the process has accepted; none without a free descriptor. */
  async listConnections(): Promise<OpenConnection[]> {
    const isOpen = (state: string) => state === ESTABLISHED || state === HALF_CLOSED;
    const sockets = await listSockets(this.port).catch(() => []);
    return sockets
      .filter(({ state, inode }) => isOpen(state) && inode !== NO_INODE)
      .map(({ remote, inode }) => {
        const [address = "", port = ""] = remote.split(":");
        return { peer: parseKernelAddress(address), peerPort: Number.parseInt(port, 16), inode };
      });
  }

  /** The runtime then sees these connections end. */
  async cut(connections: readonly OpenConnection[]): Promise<void> {
    const links = new Set(connections.map(({ inode }) => `socket:[${inode}]`));
    for (const [at, name] of readdirSync(DESCRIPTORS).entries()) {
      // Both in one turn, so that the number cannot be another connection's by then.
      if (links.has(findLink(name) ?? "")) this.libc.shutdown(Number(name), SHUT_RDWR);
      if (at % SOCKETS_A_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #setEvents(events: number): boolean {
    if (!this.poll || this.#isClosed) return false;
    const { epollFd, data } = this.poll;
    const event = new Uint8Array(EPOLL_DATA_AT + 8);
    const view = new DataView(event.buffer);
    view.setUint32(0, events, true);
    view.setBigUint64(EPOLL_DATA_AT, data, true);
    return this.libc.epoll_ctl(epollFd, EPOLL_CTL_MOD, this.fd, event) === 0;
  }
}

function openPlaceholder(): number | undefined {
  try {
    return openSync("/dev/null", "r");
  } catch {
    return undefined;
  }
}

function openLibc() {
  return dlopen("libc.so.6", {
    dup2: { args: ["i32", "i32"], returns: "i32" },
    setsockopt: { args: ["i32", "i32", "i32", "ptr", "u32"], returns: "i32" },
    shutdown: { args: ["i32", "i32"], returns: "i32" },
    epoll_ctl: { args: ["i32", "i32", "i32", "ptr"], returns: "i32" },
  }).symbols;
}

/** The TCP sockets of this machine whose own port is this one. */
export async function listSockets(port: number): Promise<KernelSocket[]> {
  const local = port.toString(16).toUpperCase().padStart(4, "0");
  const line = new RegExp(`^ *\\d+: [0-9A-F]+:${local} (\\S+) (\\S+) (?:\\S+ +){5}(\\d+)`, "gm");
  const sockets: KernelSocket[] = [];
  for (const path of ["/proc/self/net/tcp", "/proc/self/net/tcp6"]) {
    const table = await readTable(path);
    for (const [, remote = "", state = "", inode = ""] of table.matchAll(line)) {
      sockets.push({ state, remote, inode });
      // A long table must not hold up requests.
      if (sockets.length % SOCKETS_A_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  }
  return sockets;
}

/** The TCP sockets of this machine in use; 0 when they cannot be counted. */
function countTcpSockets(): number {
  const counts = ["/proc/self/net/sockstat", "/proc/self/net/sockstat6"].map((path) => {
    try {
      return Number(/^TCP6?: inuse (\d+)/m.exec(readFileSync(path, "latin1"))?.[1] ?? 0);
    } catch {
      return 0;
    }
  });
  return counts.reduce((sum, count) => sum + count, 0);
}

/** The kernel writes each 32 bits of an address as one number, in the byte order of the machine. */
export function parseKernelAddress(hex: string): string {
  const words = hex.match(/.{8}/g) ?? [];
  const bytes = words.flatMap((word) => (word.match(/../g) ?? []).reverse());
  if (bytes.length === 4) return bytes.map((byte) => Number.parseInt(byte, 16)).join(".");
  const groups = (bytes.join("").match(/.{4}/g) ?? []).join(":");
  return parseAddress(groups) ?? "";
}

async function readTable(path: string): Promise<string> {
  try {
    return await readFile(path, "latin1");
  } catch (error) {
    // A machine without IPv6 has no tcp6.
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw error;
  }
}

function listDescriptors(): { readonly fd: number; readonly link: string }[] {
  return readdirSync(DESCRIPTORS).map((name) => ({ fd: Number(name), link: findLink(name) ?? "" }));
}

/** What a descriptor stands for; undefined when it was closed in the meantime. */
function findLink(name: string): string | undefined {
  try {
    return readlinkSync(`${DESCRIPTORS}/${name}`);
  } catch {
    return undefined;
  }
}

/** How the runtime's event loop polls the descriptor. */
function findPoll(fds: ReturnType<typeof listDescriptors>, fd: number): Poll | undefined {
  for (const { fd: epollFd, link } of fds) {
    if (link !== "anon_inode:[eventpoll]") continue;
    const entries = readFileSync(`/proc/self/fdinfo/${epollFd}`, "latin1");
    const entry = new RegExp(`^tfd:\\s*${fd} events:\\s*([0-9a-f]+) data:\\s*([0-9a-f]+)`, "m").exec(entries);
    if (!entry) continue;
    return { epollFd, events: Number.parseInt(entry[1] ?? "", 16), data: BigInt(`0x${entry[2]}`) };
  }
  return undefined;
}
