// Takes a signed webhook of the game to the ledgers of the servers that it is about.
import { StoreUnavailable } from "../../core/errors.ts";
import { type HookBody, parseHookBody } from "../../core/events/game-hook.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { ServerStore } from "../../core/ports/servers.ts";
import type { Recorder } from "../events/recorder.ts";
import type { HookMeter, HookOutcomeName } from "../meters.ts";
import { TIMESTAMP_TOLERANCE_MS } from "./hook-signature.ts";

/** The signatures of this instance that were recorded lately. The archive knows those of all instances. */
export const SEEN_MAX = 10_000;
/** A signature is valid from 300 s before its timestamp to 300 s after it. */
const SEEN_MS = 2 * TIMESTAMP_TOLERANCE_MS;

export type HookReceiverDeps = {
  readonly servers: Pick<ServerStore, "all" | "readServerKey">;
  /** Undefined without an archive. */
  readonly recorder: Pick<Recorder, "recordHook"> | undefined;
  readonly clock: Clock;
  readonly meter: HookMeter;
};

export class HookReceiver {
  readonly #seen = new Map<string, number>();
  /** The part after the hyphen of each server's key, and the revision of the key that it is of. */
  readonly #gameServers = new Map<string, { readonly keyRevision: number; readonly name: string | null }>();

  constructor(private readonly deps: HookReceiverDeps) {}

  get seen(): number {
    return this.#seen.size;
  }

  /** False when the text is no JSON. Throws StoreUnavailable when it cannot be recorded now. */
  async receive(signature: string, text: string): Promise<boolean> {
    const body = parseBody(text);
    if (!body) return false;
    const { meter } = this.deps;
    meter.droppedEvents += body.dropped;
    try {
      meter.received[await this.#record(signature, body)]++;
      return true;
    } catch (error) {
      if (error instanceof StoreUnavailable) meter.received.unavailable++;
      throw error;
    }
  }

  async #record(signature: string, { server, events, probes }: HookBody): Promise<HookOutcomeName> {
    const { recorder, clock } = this.deps;
    if (probes > 0 && events.length === 0) return "probe";
    if (events.length === 0) return "empty";
    if (!recorder) return "dropped";
    const seenAt = clock();
    this.#forgetOld(seenAt);
    if (this.#seen.has(signature)) return "repeated";
    const serverIds = server === null ? [] : await this.#findServers(server);
    if (server === null || serverIds.length === 0) return "unknown_server";
    const hook = { gameServer: server, signature, seenAt, events };
    const outcomes = await Promise.all(serverIds.map((serverId) => recorder.recordHook(serverId, hook)));
    this.#seen.set(signature, seenAt);
    return outcomes.every(({ isRepeated }) => isRepeated) ? "repeated" : "recorded";
  }

  #forgetOld(now: number): void {
    for (const [signature, at] of this.#seen) {
      // A time ahead was noted before the clock was set back.
      const isOld = Math.abs(now - at) > SEEN_MS;
      if (!isOld && this.#seen.size < SEEN_MAX) return;
      this.#seen.delete(signature);
    }
  }

  /** All of our servers that are this game server. */
  async #findServers(gameServer: string): Promise<string[]> {
    const servers = [...this.deps.servers.all()];
    if (this.#gameServers.size > servers.length) this.#gameServers.clear();
    const found: string[] = [];
    for (const { serverId, keyRevision } of servers) {
      let known = this.#gameServers.get(serverId);
      if (known?.keyRevision !== keyRevision) {
        known = { keyRevision, name: await this.#readGameServer(serverId) };
        this.#gameServers.set(serverId, known);
      }
      if (known.name === gameServer) found.push(serverId);
    }
    return found;
  }

  /** Null for a key that cannot be decrypted: reads of that server report it. */
  async #readGameServer(serverId: string): Promise<string | null> {
    try {
      const serverKey = await this.deps.servers.readServerKey(serverId);
      return serverKey === undefined ? null : serverKey.slice(serverKey.indexOf("-") + 1);
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      return null;
    }
  }
}

/** Undefined for what is no JSON, or is nested too deeply to be read. */
function parseBody(text: string): HookBody | undefined {
  try {
    return parseHookBody(text);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}
