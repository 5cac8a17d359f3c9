// Sends very many requests at the same moment: each on its own connection, all open before the first byte is sent.
import { openSocket, type RawAnswer, type RawSocket, writeRequest } from "../raw-socket.ts";

const CONNECT_AT_ONCE = 100;
const ANSWERS_WITHIN_MS = 30_000;

/** Distributes the requests over the ports, round-robin. */
export async function askAllAtOnce(
  ports: readonly number[],
  requests: readonly string[],
): Promise<readonly RawAnswer[]> {
  const sockets: RawSocket[] = [];
  try {
    for (let done = 0; done < requests.length; done += CONNECT_AT_ONCE) {
      const some = requests.slice(done, done + CONNECT_AT_ONCE);
      const opening = some.map((_, index) => openSocket({ port: ports[(done + index) % ports.length] ?? 0 }));
      sockets.push(...(await Promise.all(opening)));
    }
    for (const [index, request] of requests.entries()) sockets[index]?.write(request);
    const answers = await Promise.all(sockets.map((socket) => socket.readAnswer({ deadlineMs: ANSWERS_WITHIN_MS })));
    return answers.map((answer) => {
      if (!answer) throw new Error("a connection was closed without an answer");
      return answer;
    });
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

export function writeRead(token: string): string {
  return writeRequest("/v2/game/server", [`Authorization: Bearer ${token}`]);
}

export function writeSubmission(token: string, command: string): string {
  const body = JSON.stringify({ command });
  const headers = [
    `Authorization: Bearer ${token}`,
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
  ];
  return writeRequest("/v2/game/server/command", headers, "POST") + body;
}
