// Bodies of answers are unpacked up to a limit, whatever their encoding, and every problem has a name.
import { describe, expect, test } from "bun:test";
import { createServer } from "node:net";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { fetchPacked, readCappedText } from "./capped-body.ts";

const MAX_BYTES = 100_000;
const NEVER = new AbortController().signal;

const PACKERS: Readonly<Record<string, (plain: Buffer) => Buffer>> = {
  gzip: (plain) => gzipSync(plain),
  "x-gzip": (plain) => gzipSync(plain),
  deflate: (plain) => deflateSync(plain),
  "deflate, without a zlib header": (plain) => deflateRawSync(plain),
  br: (plain) => brotliCompressSync(plain),
  zstd: (plain) => zstdCompressSync(plain),
};
const packings = Object.entries(PACKERS).map(([name, pack]) => ({
  name,
  encoding: name.replace(/,.*/, ""),
  pack: (text: string) => pack(Buffer.from(text)),
}));

function answer(body: Bun.BodyInit | null, encoding?: string): Response {
  return new Response(body, encoding === undefined ? {} : { headers: { "content-encoding": encoding } });
}

const read = (body: Bun.BodyInit | null, encoding?: string, signal = NEVER) =>
  readCappedText(answer(body, encoding), MAX_BYTES, signal);

describe.each(packings)("$name", ({ encoding, pack }) => {
  test("is unpacked to the same text, whatever the case of its name", async () => {
    const text = JSON.stringify({ name: "Служба 🚓".repeat(2_000) });
    expect(await read(pack(text), encoding)).toEqual({ text });
    expect(await read(pack(text), ` ${encoding.toUpperCase()} `)).toEqual({ text });
  });

  test("exactly the limit passes, one byte more is too large", async () => {
    expect(await read(pack("a".repeat(MAX_BYTES)), encoding)).toEqual({ text: "a".repeat(MAX_BYTES) });
    expect(await read(pack("a".repeat(MAX_BYTES + 1)), encoding)).toEqual({ problem: "too-large" });
  });

  test("packed bytes beyond the limit are too large, without unpacking", async () => {
    expect(await read(Buffer.alloc(MAX_BYTES + 1), encoding)).toEqual({ problem: "too-large" });
  });

  test("an aborted signal ends the unpacking", async () => {
    const abort = new AbortController();
    const reading = read(pack("a".repeat(MAX_BYTES)), encoding, abort.signal);
    abort.abort(new Error("the deadline"));
    await expect(reading).rejects.toThrow("the deadline");
  });

  test("an empty body is an empty text", async () => {
    expect(await read(Buffer.alloc(0), encoding)).toEqual({ text: "" });
    expect(await read(null, encoding)).toEqual({ text: "" });
  });
});

describe("problems", () => {
  test("a body in chunks that claims to be short is too large all the same", async () => {
    const chunk = "a".repeat(MAX_BYTES);
    const chunks = `${MAX_BYTES.toString(16)}\r\n${chunk}\r\n`.repeat(2);
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.end(`HTTP/1.1 200 OK\r\nContent-Length: 10\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`);
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    server.listen(0, "127.0.0.1", resolve);
    await promise;
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    try {
      const response = await fetchPacked(`http://127.0.0.1:${port}/`, {
        keepalive: false,
        proxy: false,
      } as BunFetchRequestInit);
      expect(await readCappedText(response, MAX_BYTES, NEVER)).toEqual({ problem: "too-large" });
    } finally {
      server.close();
    }
  });

  test.each(["gzip", "deflate", "br", "zstd"])("bytes that are no %s are damaged", async (encoding) => {
    const odd = Buffer.from([0x28, 0xff, 0x03, 0xff, 0xff, 0x06, 0x07, 0x08, 0x09]);
    expect(await read(odd, encoding)).toEqual({ problem: "damaged" });
  });

  test.each(["compress", "gzip, br", "gzip,gzip", "utf-8", "aws-chunked"])(
    "the encoding %j is unknown",
    async (encoding) => {
      expect(await read(gzipSync("{}"), encoding)).toEqual({ problem: "unknown-encoding" });
    },
  );

  test("a zstd window that is larger than HTTP allows is damaged", async () => {
    // A frame header with a window descriptor of 128 MiB, and an empty last block.
    const frame = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 17 << 3, 0x01, 0x00, 0x00]);
    expect(await read(frame, "zstd")).toEqual({ problem: "damaged" });
  });
});

describe("without an encoding", () => {
  test.each([undefined, "", "identity"])("%p is read as it is, up to the limit", async (encoding) => {
    expect(await read("héllo", encoding)).toEqual({ text: "héllo" });
    expect(await read("a".repeat(MAX_BYTES), encoding)).toEqual({ text: "a".repeat(MAX_BYTES) });
    expect(await read("a".repeat(MAX_BYTES + 1), encoding)).toEqual({ problem: "too-large" });
  });
});
