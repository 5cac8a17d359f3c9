// One request on its way through the house, with what the edge found out about it.
import type { Server } from "bun";
import type { Target } from "./target.ts";

let callsSeen = 0;
const PROCESS_MARK = Math.floor(Math.random() * 36 ** 6)
  .toString(36)
  .padStart(6, "0");

export class Call {
  /** The code of the error that was answered, 0 for none. For logs and metrics. */
  code = 0;
  readonly startedAt = performance.now();
  #id: string | undefined;

  constructor(
    readonly request: Request,
    readonly target: Target,
    readonly server: Server<undefined>,
    readonly now: number,
  ) {}

  /** Made up on demand: most requests need none. */
  get id(): string {
    this.#id ??= `req_${PROCESS_MARK}${(++callsSeen).toString(36)}`;
    return this.#id;
  }

  /** The address at the other end of the socket; empty when it is gone already. */
  get peerAddress(): string {
    return this.server.requestIP(this.request)?.address ?? "";
  }
}

export type Handler = (call: Call) => Response | Promise<Response>;
