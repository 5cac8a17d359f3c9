// A worker with clients that open one connection after the other to a port and send a request over each. It counts the
// connections that were accepted and then not answered; "stop" makes it post its counts.
import { connect } from "node:net";
import { writeRequest } from "../raw-socket.ts";

export type EagerCounts = { readonly answered: number; readonly refused: number; readonly cut: number };

const CLIENTS = 4;
const PAUSE_MS = 1;

declare const self: Worker;

const counts = { answered: 0, refused: 0, cut: 0 };
let isOver = false;

function askOnce(port: number): Promise<keyof EagerCounts> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(writeRequest("/")));
    const finish = (outcome: keyof EagerCounts) => {
      socket.destroy();
      resolve(outcome);
    };
    socket.on("data", () => finish("answered"));
    socket.on("error", (error: NodeJS.ErrnoException) => finish(error.code === "ECONNREFUSED" ? "refused" : "cut"));
    socket.on("close", () => finish("cut"));
  });
}

async function askAgainAndAgain(port: number): Promise<void> {
  while (!isOver) {
    counts[await askOnce(port)]++;
    await Bun.sleep(PAUSE_MS);
  }
  // Once more, so that every client has tried after the end.
  counts[await askOnce(port)]++;
}

self.onmessage = async ({ data }: MessageEvent<number | "stop">) => {
  if (data === "stop") isOver = true;
  else {
    await Promise.all(Array.from({ length: CLIENTS }, () => askAgainAndAgain(data)));
    self.postMessage(counts satisfies EagerCounts);
  }
};
