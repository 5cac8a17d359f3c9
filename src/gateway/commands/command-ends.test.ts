import { describe, expect, test } from "bun:test";
import type { Command, CommandStatus } from "../../core/commands/command.ts";
import { StoreUnavailable } from "../../core/errors.ts";
import type { SleepUntilWoken } from "../../core/ports/clock.ts";
import { STREAMS_PER_KEY_MAX, StreamSlots, TOO_MANY_STREAMS } from "../events/stream-slots.ts";
import { CommandEnds, WAITING_MAX, WAITING_PER_KEY_MAX } from "./command-ends.ts";

const DEADLINE_MS = 4_000;

/** Pauses that end when the test says so, or when they are woken. */
class HeldPauses {
  readonly #held: { readonly ms: number; readonly resolve: () => void }[] = [];

  readonly pause: SleepUntilWoken = (ms, wake) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#held.push({ ms, resolve });
    wake.addEventListener("abort", () => resolve());
    return promise;
  };

  end(isLong: boolean): void {
    for (const { ms, resolve } of this.#held) if (ms >= DEADLINE_MS === isLong) resolve();
  }
}

function setUp(first: CommandStatus) {
  const pauses = new HeldPauses();
  const slots = new StreamSlots();
  const state = { status: first as CommandStatus, finds: 0, isAway: false };
  const commands = {
    async find() {
      state.finds++;
      if (state.isAway) throw new StoreUnavailable("away");
      return { commandId: "cmd_1", status: state.status } as Command;
    },
  };
  const ends = new CommandEnds(commands, pauses.pause, slots);
  return { pauses, state, ends, slots, wait: (keyId = "key_1") => ends.wait("cmd_1", keyId, DEADLINE_MS) };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe("waiting for the end of a command", () => {
  test.each(["sent", "failed", "unknown", "expired", "cancelled"] as const)(
    "one that is %s is told at once",
    async (status) => {
      const { wait, ends } = setUp(status);
      expect(await wait()).toMatchObject({ status });
      expect(ends.waiting).toBe(0);
    },
  );

  test("the dispatcher ends the wait, for all who wait for the command", async () => {
    const { wait, state, ends } = setUp("queued");
    const waiting = [wait(), wait(), wait()];
    await settle();
    expect(ends.waiting).toBe(3);
    state.status = "sent";
    const { finds } = state;
    ends.wake("cmd_1");
    expect((await Promise.all(waiting)).map((command) => command?.status)).toEqual(["sent", "sent", "sent"]);
    expect(state.finds).toBe(finds + 1);
    expect(ends.waiting).toBe(0);
  });

  test("an end that another instance records is found by asking the store", async () => {
    const { wait, state, pauses } = setUp("sending");
    const waiting = wait();
    await settle();
    pauses.end(false);
    await settle();
    state.status = "unknown";
    pauses.end(false);
    expect(await waiting).toMatchObject({ status: "unknown" });
  });

  test("an end that is recorded during the first read is not missed", async () => {
    const { wait, state, ends } = setUp("sending");
    const waiting = wait();
    ends.wake("cmd_1");
    state.status = "sent";
    expect(await waiting).toMatchObject({ status: "sent" });
  });

  test("ends after the given time, with the state as it was", async () => {
    const { wait, pauses, ends } = setUp("queued");
    const waiting = wait();
    await settle();
    pauses.end(true);
    expect(await waiting).toMatchObject({ status: "queued" });
    expect(ends.waiting).toBe(0);
    expect(await ends.wait("cmd_1", "key_1", 0)).toMatchObject({ status: "queued" });
  });

  test("a store that cannot be read is asked again, and is no error", async () => {
    const { wait, state, pauses, ends } = setUp("queued");
    state.isAway = true;
    const waiting = wait();
    const late = wait();
    await settle();
    pauses.end(true);
    expect(await waiting).toBeUndefined();
    await late;
    state.isAway = false;
    const again = wait();
    await settle();
    state.status = "sent";
    ends.wake("cmd_1");
    expect(await again).toMatchObject({ status: "sent" });
  });

  test(`more than ${WAITING_PER_KEY_MAX} of one key are answered at once, while another key's wait goes on`, async () => {
    const { wait, state, ends } = setUp("queued");
    const waiting = Array.from({ length: WAITING_PER_KEY_MAX }, () => wait());
    expect(await wait()).toMatchObject({ status: "queued" });
    waiting.push(wait("key_2"));
    await settle();
    expect(ends.waiting).toBe(WAITING_PER_KEY_MAX + 1);
    state.status = "sent";
    ends.wake("cmd_1");
    for (const command of await Promise.all(waiting)) expect(command).toMatchObject({ status: "sent" });
    // The places are free again.
    state.status = "queued";
    const again = wait();
    await settle();
    expect(ends.waiting).toBe(1);
    state.status = "sent";
    ends.wake("cmd_1");
    await again;
  });

  test(`more than ${WAITING_MAX} in all are answered at once`, async () => {
    const { wait, pauses, ends } = setUp("queued");
    const waiting = Array.from({ length: WAITING_MAX }, (_, i) => {
      return wait(`key_${Math.floor(i / WAITING_PER_KEY_MAX)}`);
    });
    expect(await wait("key_another")).toMatchObject({ status: "queued" });
    pauses.end(true);
    await settle();
    pauses.end(true);
    await Promise.all(waiting);
    expect(ends.waiting).toBe(0);
  });
});

describe("a caller that asked to wait", () => {
  const asked = (keyId = "key_1", mayGoOn = async () => true) => {
    return { waitMs: DEADLINE_MS, keyId, signal: new AbortController().signal, mayGoOn };
  };

  test("goes on at the end of the command, after its time, when it has gone, when it may not, and at a drain", async () => {
    const byEnd = setUp("queued");
    const ended = byEnd.ends.waitFor("cmd_1", asked());
    await settle();
    byEnd.state.status = "sent";
    byEnd.ends.wake("cmd_1");
    expect(await ended).toBeUndefined();

    const { ends, pauses } = setUp("queued");
    const late = ends.waitFor("cmd_1", asked());
    await settle();
    pauses.end(true);
    expect(await late).toBeUndefined();
    const gone = new AbortController();
    const left = ends.waitFor("cmd_1", { ...asked(), signal: gone.signal });
    gone.abort();
    expect(await left).toBeUndefined();
    const forbidden = ends.waitFor(
      "cmd_1",
      asked("key_1", async () => false),
    );
    await settle();
    pauses.end(false);
    expect(await forbidden).toBeUndefined();
    const drained = ends.waitFor("cmd_1", asked());
    ends.stop();
    expect(await drained).toBeUndefined();
    expect(await ends.waitFor("cmd_1", asked())).toBeUndefined();
    expect(ends.waiting).toBe(0);
  });

  test("counts among the streams and waiting reads of its key, and is refused beyond them", async () => {
    const { ends, slots } = setUp("queued");
    for (let taken = 1; taken < STREAMS_PER_KEY_MAX; taken++) slots.take("key_1");
    const waiting = ends.waitFor("cmd_1", asked());
    expect(await ends.waitFor("cmd_1", asked())).toBe(TOO_MANY_STREAMS);
    expect(slots.take("key_1")).toBe(false);
    ends.stop();
    await waiting;
    expect(slots.take("key_1")).toBe(true);
  });
});
