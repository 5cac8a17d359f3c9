// A client that sends raw bytes over TCP or TLS and parses the answers itself. For requests that no valid client would send.
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls, TLSSocket } from "node:tls";

const ANSWER_DEADLINE_MS = 30_000;

export type RawAnswer = {
  readonly status: number;
  /** Names in lower case; repeated headers are joined with a comma. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  /** The body as it came: it may be compressed. */
  readonly bytes: Uint8Array;
};

export type RawSocket = {
  write(bytes: string | Uint8Array): void;
  /** Closes our side only. */
  end(): void;
  /** Closes the connection at once, even with unread data. */
  destroy(): void;
  /** Stops reading, so that the data of the other side fills the buffers. */
  pause(): void;
  resume(): void;
  /** The received bytes that readAnswer has not returned yet, one character per byte. */
  readonly received: string;
  readonly isClosed: boolean;
  /** Resolves when the other side has closed or cut the connection. */
  readonly closed: Promise<void>;
  /** The next answer; undefined when the connection ends before it is complete. Throws after a timeout. */
  readAnswer(options?: { isHead?: boolean; deadlineMs?: number }): Promise<RawAnswer | undefined>;
  readonly peerFingerprint: string | undefined;
};

export function toBytes(text: string): Uint8Array {
  return Buffer.from(text, "latin1");
}

export async function openSocket(
  address: { port: number; host?: string; localAddress?: string },
  tls?: { rejectUnauthorized: boolean; servername?: string },
): Promise<RawSocket> {
  const { port, host = "127.0.0.1", localAddress } = address;
  const target = { port, host, ...(localAddress !== undefined && { localAddress }) };
  const socket: Socket | TLSSocket = tls ? connectTls({ ...target, ...tls }) : connectTcp(target);
  let chunks: Buffer[] = [];
  let waiting: (() => void)[] = [];
  let isClosed = false;
  const wake = () => {
    const woken = waiting;
    waiting = [];
    for (const resolve of woken) resolve();
  };
  const closed = new Promise<void>((resolve) => {
    const finish = () => {
      isClosed = true;
      wake();
      resolve();
    };
    socket.on("end", finish);
    socket.on("close", finish);
  });
  socket.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    wake();
  });
  await new Promise<void>((resolve, reject) => {
    socket.once(tls ? "secureConnect" : "connect", () => resolve());
    socket.once("error", reject);
  });
  // A reset counts as closing; the event "close" follows.
  socket.on("error", () => {});

  function joined(): Buffer {
    const whole = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
    chunks = [whole];
    return whole;
  }

  return {
    write(bytes) {
      socket.write(typeof bytes === "string" ? toBytes(bytes) : bytes);
    },
    end: () => void socket.end(),
    destroy: () => void socket.destroy(),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    get received() {
      return joined().toString("latin1");
    },
    get isClosed() {
      return isClosed;
    },
    closed,
    async readAnswer({ isHead = false, deadlineMs = ANSWER_DEADLINE_MS } = {}) {
      const deadline = Date.now() + deadlineMs;
      while (true) {
        const found = cutAnswer(joined(), isHead);
        if (found) {
          chunks = [found.rest];
          return found.answer;
        }
        if (isClosed) return undefined;
        const leftMs = deadline - Date.now();
        if (leftMs <= 0) throw new Error(`no whole answer within ${deadlineMs} ms`);
        await waitForData(leftMs);
      }
    },
    get peerFingerprint() {
      return socket instanceof TLSSocket ? socket.getPeerCertificate().fingerprint256 : undefined;
    },
  };

  function waitForData(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      waiting.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}

/** Opens a connection, sends the bytes, and returns the first answer, if there is one. */
export async function sendRaw(
  address: { port: number; host?: string },
  bytes: string | Uint8Array,
  options: { isHead?: boolean; deadlineMs?: number } = {},
): Promise<RawAnswer | undefined> {
  const socket = await openSocket(address);
  try {
    socket.write(bytes);
    return await socket.readAnswer(options);
  } finally {
    socket.destroy();
  }
}

/** The bytes of a plain request; `headers` are whole lines without their ends. */
export function writeRequest(target: string, headers: readonly string[] = [], method = "GET"): string {
  return [`${method} ${target} HTTP/1.1`, "Host: gatehouse.test", ...headers, "", ""].join("\r\n");
}

/** Parses all answers that came over one connection. */
export function cutAnswers(bytes: Buffer): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = bytes;
  for (let found = cutAnswer(rest, false); found; found = cutAnswer(rest, false)) {
    answers.push(found.answer);
    rest = found.rest;
  }
  return answers;
}

function cutAnswer(bytes: Buffer, isHead: boolean): { answer: RawAnswer; rest: Buffer } | undefined {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd === -1) return undefined;
  const [statusLine = "", ...lines] = bytes.toString("latin1", 0, headEnd).split("\r\n");
  const status = Number(/^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(statusLine)?.[1]);
  if (!Number.isInteger(status)) throw new Error(`not a status line: ${statusLine}`);
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    const earlier = headers.get(name);
    headers.set(name, earlier === undefined ? value : `${earlier}, ${value}`);
  }
  const bodyStart = headEnd + 4;
  const hasBody = !isHead && status !== 204 && status !== 304;
  // A stream has no end, so its chunks are left to the caller.
  const isStream = headers.get("content-type") === "text/event-stream";
  if (hasBody && !isStream && headers.get("transfer-encoding") === "chunked") {
    const found = joinChunks(bytes, bodyStart);
    return found && { answer: { status, headers, ...found.content }, rest: bytes.subarray(found.end) };
  }
  const bodyEnd = bodyStart + (hasBody ? Number(headers.get("content-length") ?? 0) : 0);
  if (bytes.length < bodyEnd) return undefined;
  const content = bytes.subarray(bodyStart, bodyEnd);
  return {
    answer: { status, headers, body: content.toString("utf8"), bytes: content },
    rest: bytes.subarray(bodyEnd),
  };
}

/** The body in chunks that begins there; undefined when its last chunk has not come. */
function joinChunks(
  bytes: Buffer,
  start: number,
): { content: Pick<RawAnswer, "body" | "bytes">; end: number } | undefined {
  const parts: Buffer[] = [];
  for (let at = start; ; ) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd === -1) return undefined;
    const size = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    const end = lineEnd + 2 + size + 2;
    if (!(bytes.length >= end)) return undefined;
    if (size === 0) {
      const content = Buffer.concat(parts);
      return { content: { body: content.toString("utf8"), bytes: content }, end };
    }
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = end;
  }
}
