// Bytes that are no request, or hardly one: for a share of the run.
import type { Random } from "../../../src/simulator/random.ts";
import { hostileText, letters } from "./values.ts";

type Make = (random: Random, authorization: string) => string;

const PATHS = ["/v2/game/server", "/admin/servers", "/healthz", "/", "/v2/server", "/hooks/game"];
const FORMS: readonly Make[] = [
  (random) => `${letters(random, 5)}\r\n\r\n`,
  (random, key) => `G\0T ${random.pick(PATHS)} HTTP/1.1\r\nHost: x\r\n${key}\r\n\r\n`,
  (random, key) => `GET ${random.pick(PATHS)} HTTP/9.9\r\nHost: x\r\n${key}\r\n\r\n`,
  (random, key) => `GET ${random.pick(PATHS)} HTTP/1.1\r\n${key}\r\n\r\n`,
  (random, key) => `GET ${random.pick(PATHS)} HTTP/1.0\r\n${key}\r\n\r\n`,
  (random, key) => `GET http://elsewhere${random.pick(PATHS)} HTTP/1.1\r\nHost: x\r\n${key}\r\n\r\n`,
  (random, key) => `GET ${random.pick(PATHS)} HTTP/1.1\nHost: x\n${key}\n\n`,
  (random, key) => get(random, key, `X-A: ${"a".repeat(20_000)}`),
  (random, key) => get(random, key, "X-A: b\r\n".repeat(300).trimEnd()),
  (random, key) => get(random, key, "X-A : b"),
  (random, key) => get(random, key, "X-A: b\r\n folded"),
  (random, key) => get(random, key, `X-A: ${Buffer.from(hostileText(random)).toString("latin1")}`),
  (random, key) => `GET ${random.pick(PATHS)}?${"a".repeat(20_000)} HTTP/1.1\r\nHost: x\r\n${key}\r\n\r\n`,
  (random, key) => post(random, key, "Content-Length: 5\r\nContent-Length: 6", "abcdef"),
  (random, key) => post(random, key, "Content-Length: -5", "abcde"),
  (random, key) => post(random, key, `Content-Length: ${"9".repeat(40)}`, "abcde"),
  (random, key) => post(random, key, "Content-Length: 5\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
  (random, key) => post(random, key, "Transfer-Encoding: chunked", "zz\r\nabc\r\n0\r\n\r\n"),
  (random, key) => post(random, key, "Transfer-Encoding: chunked", "3\r\nabcdefg\r\n0\r\n\r\n"),
  (random, key) => post(random, key, "Transfer-Encoding: chunked", "ffffffffffffffff\r\nabc\r\n0\r\n\r\n"),
  (random, key) => post(random, key, "Transfer-Encoding: chunked", "2\r\n{}\r\n0\r\nX-Trailer: 1\r\n\r\n"),
  (random, key) => post(random, key, "Transfer-Encoding: xchunked", "0\r\n\r\n"),
  (random, key) => post(random, key, "Expect: 100-continue\r\nContent-Length: 2", "{}"),
  (random, key) =>
    get(random, key, "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQA"),
  (random, key) => get(random, key, "Upgrade: websocket\r\nConnection: Upgrade"),
  (random, key) => get(random, `${key}\r\n${key}`, "X-A: b"),
  // Several at once, the last one cut.
  (random, key) => get(random, key, "X-A: b").repeat(random.integer(2, 8)),
  (random, key) => `${get(random, key, "X-A: b")}GET / HT`,
  (random, key) => get(random, key, "X-A: b").slice(0, random.integer(1, 60)),
  () => "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
  () => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  (random) => Buffer.from(hostileText(random)).toString("latin1"),
];

function get(random: Random, key: string, headers: string): string {
  return `GET ${random.pick(PATHS)} HTTP/1.1\r\nHost: x\r\n${key}\r\n${headers}\r\n\r\n`;
}

function post(random: Random, key: string, headers: string, rest: string): string {
  const path = random.pick(["/v2/game/server/command", "/admin/servers", "/hooks/game", "/session/invitations"]);
  return `POST ${path} HTTP/1.1\r\nHost: x\r\n${key}\r\nContent-Type: application/json\r\n${headers}\r\n\r\n${rest}`;
}

/** One character for each byte. */
export function makeRawRequest(random: Random, token: string): string {
  return random.pick(FORMS)(random, `Authorization: Bearer ${token}`);
}
