// Stops accepting connections while this process has no free file descriptors. The runtime would try again without a pause,
// and use a whole processor core for it.
import { closeSync, openSync } from "node:fs";
import type { Log } from "../../core/ports/log.ts";
import type { ListeningSocket } from "./listening-socket.ts";

const CHECK_MS = 250;
/** Accepting goes on when this many descriptors are free, so that it does not stop again at once. */
const FREE_MIN = 8;

export class DescriptorCheck {
  readonly #sockets: readonly ListeningSocket[];
  readonly #log: Pick<Log, "warn" | "info">;
  readonly #timer: ReturnType<typeof setInterval>;
  #isPaused = false;

  constructor(sockets: readonly ListeningSocket[], log: Pick<Log, "warn" | "info">) {
    this.#sockets = sockets;
    this.#log = log;
    this.#timer = setInterval(() => this.#check(), CHECK_MS);
    this.#timer.unref();
  }

  /** Accepting goes on, whatever is free. */
  stop(): void {
    clearInterval(this.#timer);
    if (this.#isPaused) this.#resume();
  }

  #check(): void {
    if (!this.#isPaused && !areFree(1)) this.#pause();
    else if (this.#isPaused && areFree(FREE_MIN)) this.#resume();
  }

  #pause(): void {
    // Not with `some`, which would stop at the first.
    if (!this.#sockets.map((socket) => socket.pause()).includes(true)) return;
    this.#isPaused = true;
    this.#log.warn({}, "no file descriptors are free: new connections wait until some are");
  }

  #resume(): void {
    for (const socket of this.#sockets) socket.resume();
    this.#isPaused = false;
    this.#log.info({}, "file descriptors are free again: connections are accepted");
  }
}

function areFree(count: number): boolean {
  const opened: number[] = [];
  try {
    while (opened.length < count) opened.push(openSync("/dev/null", "r"));
    return true;
  } catch {
    return false;
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}
