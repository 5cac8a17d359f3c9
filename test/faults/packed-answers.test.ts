// Packed answers of the game API: a small one that unpacks to 600 MB does not fill the memory, and a damaged one does not
// make the runtime write to the log.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Readable, type Transform } from "node:stream";
import { constants, createBrotliCompress, createGzip, createZstdCompress, gzipSync, zstdCompressSync } from "node:zlib";
import { BASE_INFO, type FakeGameApi, startFakeGameApi } from "../fake-game-api.ts";
import { startGatehouse, type TestGatehouse } from "../start-gatehouse.ts";

const CHILD = join(import.meta.dir, "read-packed-answer.ts");
const CHUNK = Buffer.alloc(1024 * 1024, " ");
const UNPACKED_CHUNKS = 600;
/** Far above what 4 MiB and the windows of the decoders take, far below 600 MB. */
const GROWTH_MAX_BYTES = 100 * 1024 * 1024;

const PACKERS: Readonly<Record<string, () => Transform>> = {
  br: () => createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 2 } }),
  zstd: () => createZstdCompress(),
  gzip: () => createGzip(),
};

async function packBomb(packer: Transform): Promise<Buffer> {
  const packed: Buffer[] = [];
  Readable.from(Array.from({ length: UNPACKED_CHUNKS }, () => CHUNK)).pipe(packer);
  for await (const chunk of packer) packed.push(chunk);
  return Buffer.concat(packed);
}

function answerPacked(body: Buffer, encoding: string): Response {
  return new Response(new Uint8Array(body), { headers: { "content-encoding": encoding } });
}

let game: FakeGameApi;
let small: FakeGameApi;
let gatehouse: TestGatehouse;
let token: string;

beforeAll(async () => {
  game = startFakeGameApi();
  const smallBody = gzipSync(JSON.stringify(BASE_INFO));
  small = startFakeGameApi(() => answerPacked(smallBody, "gzip"));
  gatehouse = await startGatehouse({
    env: { GATEHOUSE_UPSTREAM_URL: game.url, GATEHOUSE_UPSTREAM_TIMEOUT_MS: "30000" },
  });
  token = (await gatehouse.addKey(await gatehouse.addServer())).token;
});
afterAll(async () => {
  await gatehouse.stop();
  await game.stop();
  await small.stop();
});

async function readInChild(): Promise<{
  code: number;
  message: string;
  grownBytes: number;
  stderr: string;
}> {
  const child = Bun.spawn([process.execPath, "--no-env-file", CHILD, small.url, game.url], {
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { ...JSON.parse(stdout), stderr };
}

describe.each(Object.keys(PACKERS))("%s", (encoding) => {
  test("an answer that unpacks to 600 MB is refused, and the memory stays flat", async () => {
    const packer = PACKERS[encoding];
    if (!packer) throw new Error("no such packer");
    const bomb = await packBomb(packer());
    expect(bomb.length).toBeLessThan(1024 * 1024);
    game.answer = () => answerPacked(bomb, encoding);
    const { grownBytes, ...outcome } = await readInChild();
    expect(outcome).toEqual({
      code: 0,
      message: "The game API's answer is larger than 4 MiB.",
      stderr: "",
    });
    expect(grownBytes).toBeLessThan(GROWTH_MAX_BYTES);
    gatehouse.clock.advance(60_000);
    const response = await gatehouse.get("/v2/game/server", token);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      code: 5019,
      upstream_code: 0,
      upstream_message: "The game API's answer is larger than 4 MiB.",
    });
  });

  test("a damaged answer is refused in our words, and the runtime writes nothing", async () => {
    game.answer = () => answerPacked(Buffer.from("no packed bytes at all"), encoding);
    expect(await readInChild()).toMatchObject({
      code: 0,
      message: "The game API's answer could not be unpacked.",
      stderr: "",
    });
  });
});

test("a packed state of the server is relayed", async () => {
  const body = zstdCompressSync(JSON.stringify(BASE_INFO));
  game.answer = () => answerPacked(body, "zstd");
  gatehouse.clock.advance(60_000);
  const response = await gatehouse.get("/v2/game/server", token);
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual(BASE_INFO);
});

test("an answer in an unknown encoding is refused, and says so", async () => {
  game.answer = () => answerPacked(Buffer.from("{}"), "compress");
  gatehouse.clock.advance(60_000);
  const response = await gatehouse.get("/v2/game/server", token);
  expect(await response.json()).toMatchObject({
    code: 5019,
    upstream_code: 0,
    upstream_message: "The game API's answer is packed in an unknown way.",
  });
});
