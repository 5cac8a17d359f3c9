// A command is not sent when a read gets a 429 or a refusal between the claim and the sending. The rest of the dispatcher is
// tested in test/journeys/delivering.test.ts and test/model.
import { expect, test } from "bun:test";
import type { Command } from "../../core/commands/command.ts";
import type { CommandQueue } from "../../core/ports/commands.ts";
import { CommandMeter } from "../meters.ts";
import { CommandDispatcher } from "./command-dispatcher.ts";

const NOW = 1_800_000_000_000;
const LIMIT_MS = 30_000;
const SERVER = {
  ...{ serverId: "srv_1", name: "Town", community: null },
  ...{ createdAt: 0, keyRevision: 1, isSimulated: false, isWatched: true, publicStatus: null, ownersSignIn: false },
};
const COMMAND: Command = {
  commandId: "cmd_1",
  serverId: SERVER.serverId,
  keyId: "key_1",
  sentBy: { kind: "key", id: "key_1", name: "bot" },
  text: ":h",
  status: "sending",
  position: null,
  queuedAt: NOW,
  sentAt: NOW,
  finishedAt: null,
  confirmedAt: null,
  upstreamCode: null,
  upstreamMessage: null,
};

/** A queue of one command. `learn` is called during the claim. */
function setUp(learn: (callState: { heldMs: number }) => void) {
  const told: string[] = [];
  const callState = { heldMs: 0 };
  const rested = Promise.withResolvers<number>();
  const commands: Partial<CommandQueue> = {
    expire: async () => 0,
    async claim() {
      told.push("taken");
      learn(callState);
      return { kind: "claimed", command: COMMAND };
    },
    async requeue(commandId) {
      told.push(`given back: ${commandId}`);
    },
    async settle(_, { status }) {
      told.push(`settled: ${status}`);
    },
    async hold() {},
    list: async () => ({ items: [COMMAND], next: null }),
  };
  const dispatcher = new CommandDispatcher({
    store: {
      commands: commands as CommandQueue,
      servers: { find: () => SERVER, readServerKey: async () => "a-b" },
    },
    upstream: {
      async sendCommand() {
        told.push("sent");
        const hint = { limit: null, remaining: null, resetAt: null, retryAfterMs: null };
        // Holds every later command, so that the test sends only one.
        callState.heldMs = LIMIT_MS;
        return { outcome: "done", hint };
      },
    },
    callState: {
      findRefusedKey: () => undefined,
      msUntilCommand: () => callState.heldMs,
      catchUpOn: async () => {},
      probe: () => undefined,
      markSending() {},
      applyDelivery() {},
    },
    clock: () => NOW,
    pause(ms) {
      rested.resolve(ms);
      return new Promise(() => {});
    },
    intervalMs: 5_000,
    ttlMs: 600_000,
    burstQuietMs: 0,
    meter: new CommandMeter(),
    log: { debug() {}, info() {}, warn() {}, error() {} },
  });
  dispatcher.notify(SERVER.serverId);
  return { told, rested: rested.promise };
}

test("a command is sent when no read got a 429 or a refusal during its claim", async () => {
  const { told, rested } = setUp(() => {});
  await rested;
  expect(told).toEqual(["taken", "sent", "settled: sent"]);
});

test("a command is held when a read gets a 429 during its claim, for as long as the 429 says", async () => {
  const { told, rested } = setUp((callState) => {
    callState.heldMs = LIMIT_MS;
  });
  expect(await rested).toBe(LIMIT_MS);
  expect(told).toEqual(["taken", "given back: cmd_1"]);
});
