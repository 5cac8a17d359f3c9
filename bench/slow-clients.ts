// The slow clients of bench/slow-sockets.ts, in a process of their own: opens connections that say too little or read
// nothing, as many as its arguments ask for, and prints a line when all of them are open. Ends when its input is closed.
import { connect } from "node:net";

const [port = "", count = "", perSecond = "", tokensText = "[]"] = process.argv.slice(2);
const tokens: string[] = JSON.parse(tokensText);
/** Of so many connections, one reads nothing of a large answer; more would fill the kernel's memory. */
const READERS_ONE_IN = 25;
/** Below the limit of connections from one address. */
const CONNECTIONS_PER_ADDRESS = 1_000;
const BATCH_MS = 1;

let opened = 0;

function open(): void {
  const at = opened++;
  const localAddress = `127.0.1.${1 + Math.floor(at / CONNECTIONS_PER_ADDRESS)}`;
  const socket = connect({ port: Number(port), host: "127.0.0.1", localAddress });
  socket.on("error", () => {});
  socket.on("data", () => {});
  socket.once("connect", () => {
    socket.pause();
    socket.write(beginning(at));
  });
}

function beginning(at: number): string {
  if (at % READERS_ONE_IN === 0) {
    const token = tokens[(at / READERS_ONE_IN) % tokens.length];
    return `GET /v2/game/server?Vehicles=true HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`;
  }
  if (at % 3 === 0) return "GET /healthz HTTP/1.1\r\nHost:";
  if (at % 3 === 1) return "POST /admin/servers HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{";
  return "";
}

const batch = Math.max(1, Math.round((Number(perSecond) * BATCH_MS) / 1_000));
const timer = setInterval(() => {
  for (let more = 0; more < batch && opened < Number(count); more++) open();
  if (opened < Number(count)) return;
  clearInterval(timer);
  process.stdout.write("open\n");
}, BATCH_MS);
process.stdin.on("end", () => process.exit(0));
process.stdin.resume();
