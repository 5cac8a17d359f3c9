// How the dispatcher handles errors, and how it stops. Sending commands is tested in test/journeys.
import { describe, expect, test } from "bun:test";
import { StoreUnavailable } from "../../core/errors.ts";
import type { Claim, CommandQueue } from "../../core/ports/commands.ts";
import { CommandMeter } from "../meters.ts";
import { CommandDispatcher, type DispatcherDeps } from "./command-dispatcher.ts";

const NOW = 1_800_000_000_000;
const CLAIMED: Claim = {
  kind: "claimed",
  command: {
    ...{
      commandId: "cmd_1",
      serverId: "srv_1",
      keyId: "key_1",
      sentBy: { kind: "key", id: "key_1", name: "bot" },
      text: ":h",
      status: "sending",
      position: null,
    },
    ...{ queuedAt: NOW, sentAt: NOW, finishedAt: null, confirmedAt: null },
    ...{ upstreamCode: null, upstreamMessage: null },
  },
};

type LogLine = { readonly fields: object; readonly message: string };
type HeldPause = { readonly ms: number; readonly end: () => void };

/** A dispatcher whose steps have the results that the test sets, and whose clock moves when the test ends a pause. */
function createStage(step: () => Promise<void>, queue: Partial<CommandQueue> = {}) {
  const errors: LogLine[] = [];
  const pauses: HeldPause[] = [];
  const waiters: ((pause: HeldPause) => void)[] = [];
  let now = NOW;
  let steps = 0;
  let sends = 0;
  const commands: Partial<CommandQueue> = {
    expire: async () => {
      steps++;
      await step();
      return 0;
    },
    claim: async () => ({ kind: "busy" }),
    ...queue,
  };
  const parts: DispatcherDeps = {
    store: {
      commands: commands as CommandQueue,
      servers: {
        find: (serverId) => ({
          ...{
            serverId,
            name: "",
            community: null,
            createdAt: 0,
            keyRevision: 1,
            isSimulated: false,
            isWatched: true,
            publicStatus: null,
            ownersSignIn: false,
          },
        }),
        readServerKey: async () => "server-key",
      },
    },
    upstream: {
      sendCommand: async () => {
        sends++;
        return { outcome: "done", hint: { limit: null, remaining: null, resetAt: null, retryAfterMs: null } };
      },
    },
    callState: {
      catchUpOn: async () => {},
      findRefusedKey: () => undefined,
      msUntilCommand: () => 0,
      probe: () => undefined,
      markSending() {},
      applyDelivery() {},
    },
    clock: () => now,
    pause(ms, wake) {
      const { promise, resolve } = Promise.withResolvers<void>();
      wake.addEventListener("abort", () => resolve());
      const end = () => {
        now += ms;
        resolve();
      };
      const waiter = waiters.shift();
      if (waiter) waiter({ ms, end });
      else pauses.push({ ms, end });
      return promise;
    },
    intervalMs: 5_000,
    ttlMs: 600_000,
    burstQuietMs: 0,
    meter: new CommandMeter(),
    log: {
      debug() {},
      info() {},
      warn() {},
      error: (fields, message) => errors.push({ fields, message }),
    },
  };
  return {
    dispatcher: new CommandDispatcher(parts),
    errors,
    get steps() {
      return steps;
    },
    get sends() {
      return sends;
    },
    /** The pause after the next step. */
    async nextPause(): Promise<HeldPause> {
      return pauses.shift() ?? (await new Promise((resolve) => waiters.push(resolve)));
    },
  };
}

async function takeTurns(): Promise<void> {
  for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve));
}

const fail = () => Promise.reject(new TypeError("a bug"));

describe("an unexpected error", () => {
  test("is followed by a backoff of 1 s, doubling to 60 s, and the worker continues", async () => {
    const stage = createStage(fail);
    stage.dispatcher.notify("srv_1");
    const waits: number[] = [];
    for (let i = 0; i < 9; i++) {
      const { ms, end } = await stage.nextPause();
      waits.push(ms / 1000);
      end();
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
    await stage.nextPause();
    await stage.dispatcher.stop(1_000);
  });

  test("keeps its backoff when the dispatcher is notified meanwhile", async () => {
    const stage = createStage(fail);
    stage.dispatcher.notify("srv_1");
    for (const ms of [1_000, 2_000]) {
      const pause = await stage.nextPause();
      expect(pause.ms).toBe(ms);
      const before = stage.steps;
      for (let i = 0; i < 3; i++) stage.dispatcher.notify("srv_1");
      await takeTurns();
      expect(stage.steps).toBe(before);
      pause.end();
    }
    expect((await stage.nextPause()).ms).toBe(4_000);
    await stage.dispatcher.stop(1_000);
  });

  test("is logged once, then once a minute with the number of errors in between", async () => {
    const stage = createStage(fail);
    stage.dispatcher.notify("srv_1");
    // 1 + 2 + 4 + 8 + 16 = 31 s after the fifth of these, 63 s after the sixth.
    for (let i = 0; i < 6; i++) (await stage.nextPause()).end();
    await stage.nextPause();
    expect(stage.errors).toMatchObject([
      { message: "sending a command failed unexpectedly", fields: { server_id: "srv_1", unlogged: 0 } },
      { message: "sending a command failed unexpectedly", fields: { server_id: "srv_1", unlogged: 5 } },
    ]);
    await stage.dispatcher.stop(1_000);
  });

  test("has a backoff of 1 s again after a successful step", async () => {
    let steps = 0;
    const stage = createStage(async () => {
      if (++steps !== 3) await fail();
    });
    stage.dispatcher.notify("srv_1");
    const waits: number[] = [];
    for (let i = 0; i < 5; i++) {
      const { ms, end } = await stage.nextPause();
      waits.push(ms);
      end();
    }
    // The third step finds the server's command being sent by another instance, which is no error.
    expect(waits).toEqual([1_000, 2_000, 1_000, 1_000, 2_000]);
    await stage.nextPause();
    await stage.dispatcher.stop(1_000);
  });
});

test("an unavailable store is called again every second and does not count as an unexpected error", async () => {
  const stage = createStage(() => Promise.reject(new StoreUnavailable("full")));
  stage.dispatcher.notify("srv_1");
  for (let i = 0; i < 4; i++) {
    const { ms, end } = await stage.nextPause();
    expect(ms).toBe(1_000);
    end();
  }
  expect(stage.errors).toEqual([]);
  await stage.nextPause();
  await stage.dispatcher.stop(1_000);
});

describe("while the dispatcher stops", () => {
  const succeed = async () => {};
  const BUSY = new StoreUnavailable("the script came too late to act");

  test("a result that the store could not take is recorded again until it is stored", async () => {
    const recorded: string[] = [];
    let attempts = 0;
    const stage = createStage(succeed, {
      claim: async () => CLAIMED,
      async settle(_, { status }) {
        if (++attempts < 4) throw BUSY;
        recorded.push(status);
      },
      async hold() {},
    });
    stage.dispatcher.notify("srv_1");
    const first = await stage.nextPause();
    const stopped = stage.dispatcher.stop(60_000);
    first.end();
    for (let i = 0; i < 2; i++) (await stage.nextPause()).end();
    await stopped;
    expect(recorded).toEqual(["sent"]);
    expect(stage.sends).toBe(1);
  });

  test("a claim without an answer is made again, and what it took goes back to its queue unsent", async () => {
    const putBack: string[] = [];
    let claims = 0;
    const stage = createStage(succeed, {
      async claim() {
        if (++claims < 3) throw BUSY;
        return CLAIMED;
      },
      async requeue(commandId) {
        putBack.push(commandId);
      },
    });
    stage.dispatcher.notify("srv_1");
    await stage.nextPause();
    const stopped = stage.dispatcher.stop(60_000);
    (await stage.nextPause()).end();
    await stopped;
    expect(putBack).toEqual(["cmd_1"]);
    expect(stage.sends).toBe(0);
  });

  test("a command that was claimed and not yet sent goes back to its queue", async () => {
    const putBack: string[] = [];
    const claim = Promise.withResolvers<Claim>();
    const asked = Promise.withResolvers<void>();
    const stage = createStage(succeed, {
      claim() {
        asked.resolve();
        return claim.promise;
      },
      async requeue(commandId) {
        putBack.push(commandId);
      },
    });
    stage.dispatcher.notify("srv_1");
    await asked.promise;
    const stopped = stage.dispatcher.stop(60_000);
    claim.resolve(CLAIMED);
    await stopped;
    expect(putBack).toEqual(["cmd_1"]);
    expect(stage.sends).toBe(0);
  });

  test("nothing is tried any more after the grace period", async () => {
    let attempts = 0;
    const stage = createStage(succeed, {
      claim: async () => CLAIMED,
      async settle() {
        attempts++;
        throw BUSY;
      },
    });
    stage.dispatcher.notify("srv_1");
    await stage.nextPause();
    const stopped = stage.dispatcher.stop(1);
    const second = await stage.nextPause();
    await stopped;
    second.end();
    await takeTurns();
    expect(attempts).toBe(3);
  });
});
