// The relay with a fake game API, a fake clock, and sleeps that end when the clock is moved.
import { isRefusal, type Refusal } from "../src/core/errors.ts";
import type { GameServer } from "../src/core/game-server.ts";
import type { Log } from "../src/core/ports/log.ts";
import type { RelayShare } from "../src/core/ports/relay-share.ts";
import type { Delivery, LimitHint, UpstreamReading } from "../src/core/ports/upstream.ts";
import { RelayMeter } from "../src/gateway/meters.ts";
import { Relay, type RelaySettings } from "../src/gateway/readings/relay.ts";
import type { Reading } from "../src/gateway/readings/server-status.ts";

export const START = 1_800_000_000_000;
export const FRESH_MS = 2_000;
const SILENT: LimitHint = { limit: null, remaining: null, resetAt: null, retryAfterMs: null };
const SILENT_LOG: Log = { debug() {}, info() {}, warn() {}, error() {} };

type Stage = {
  now: number;
  sleepers: { readonly until: number; readonly wake: () => void }[];
  /** Every call that reached the game API: for which server, and when. */
  calls: { readonly serverKey: string; readonly at: number }[];
  answerCall: (serverKey: string) => UpstreamReading | Promise<UpstreamReading>;
  readServerKey: (serverId: string) => Promise<string | undefined>;
  relay: Relay;
};

/** The state that a test may read and change; empty before the first reset. */
export const stage = {} as Stage;

/** To be called before each test. */
export function resetStage(): void {
  stage.now = START;
  stage.sleepers = [];
  stage.calls = [];
  stage.answerCall = () => good();
  stage.readServerKey = async (serverId) => `key-${serverId}`;
  stage.relay = openRelay();
}

export function openRelay(settings: Partial<RelaySettings> = {}, share?: RelayShare): Relay {
  return new Relay({
    share,
    upstream: {
      async readServer(serverKey) {
        stage.calls.push({ serverKey, at: stage.now });
        return stage.answerCall(serverKey);
      },
    },
    servers: { readServerKey: (serverId) => stage.readServerKey(serverId) },
    clock: () => stage.now,
    sleep: (ms) => new Promise((wake) => stage.sleepers.push({ until: stage.now + ms, wake })),
    settings: {
      timeoutMs: 5_000,
      freshMs: FRESH_MS,
      staleMs: 0,
      hasGlobalKey: false,
      isSimulator: false,
      ...settings,
    },
    meter: new RelayMeter(),
    log: SILENT_LOG,
  });
}

export function good(hint: Partial<LimitHint> = {}, name = "Town"): UpstreamReading {
  const parts = { base: `{"Name":"${name}"`, sections: new Array<string>(9).fill("[]"), misfits: 0 };
  return { hint: { ...SILENT, ...hint }, parts, content: { settings: { Name: name }, sections: {} } };
}

export function bad(code: number, hint: Partial<LimitHint> = {}): UpstreamReading {
  return {
    hint: { ...SILENT, ...hint },
    failure: { code, message: `said ${code}`, isRateLimit: code === 4001 },
  };
}

/** The delivery of a command that the game API refused. */
export function refused(code: number): Delivery {
  return {
    hint: SILENT,
    outcome: "refused",
    failure: { code, message: `said ${code}`, isRateLimit: false },
  };
}

export const server = (name = "a", keyRevision = 1): GameServer => ({
  ...{
    serverId: name,
    name,
    community: null,
    createdAt: 0,
    isSimulated: false,
    isWatched: true,
    publicStatus: null,
    ownersSignIn: false,
  },
  keyRevision,
});

/** Runs everything that waits for a promise and not for the clock. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 50; i++) await Promise.resolve();
}

/** Moves the clock, and ends each sleep at its exact millisecond. */
export async function advance(ms: number): Promise<void> {
  const end = stage.now + ms;
  for (;;) {
    await settle();
    const next = stage.sleepers.filter(({ until }) => until <= end).sort((a, b) => a.until - b.until)[0];
    if (!next) break;
    stage.sleepers.splice(stage.sleepers.indexOf(next), 1);
    stage.now = Math.max(stage.now, Math.ceil(next.until));
    next.wake();
  }
  stage.now = end;
}

export const read = async (which = server()) => stage.relay.read(which, stage.now);

export function refusalOf(outcome: Reading | Refusal): Refusal {
  if (!isRefusal(outcome)) throw new Error("this was no refusal");
  return outcome;
}

export const codeOf = (outcome: Reading | Refusal) => refusalOf(outcome).fields?.upstream_code;
export const retryAfterOf = (outcome: Reading | Refusal) => refusalOf(outcome).headers?.["Retry-After"];
export const nameOf = (outcome: Reading | Refusal) => {
  if (isRefusal(outcome)) throw new Error(`refused with ${codeOf(outcome)}`);
  return JSON.parse(new TextDecoder().decode(outcome.snapshot.body(0).bytes)).Name;
};

/** A call that the test answers. */
export function holdNextCall(): (answer: UpstreamReading) => void {
  const held = Promise.withResolvers<UpstreamReading>();
  stage.answerCall = () => held.promise;
  return held.resolve;
}

export async function failTimes(times: number, code = 0): Promise<void> {
  stage.answerCall = () => bad(code);
  for (let i = 0; i < times; i++) await read();
}
