// Forgetting is noted before the answer, done in steps, and goes on after faults and restarts.

import { describe, expect, test } from "bun:test";
import { StoreUnavailable } from "../../core/errors.ts";
import type { Actor, AuditNote } from "../../core/ports/audit.ts";
import type { Log } from "../../core/ports/log.ts";
import {
  IDLE_SLEEP_MS,
  PlayerForgetting,
  type PlayerForgettingDeps,
  STEP_SLEEP_MS,
  WAIT_MS,
} from "./player-forgetting.ts";

const ACTOR: Actor = { kind: "master", id: "f", name: "master key", address: "127.0.0.1" };

type Work = {
  readonly step?: () => Promise<boolean>;
  readonly start?: () => Promise<void>;
  /** Whether no command that is not finished names the player. */
  readonly erase?: () => boolean;
  readonly hasArchive?: boolean;
};

/** `isLate`: the operator has waited long enough before the steps are done. */
function create(work: Work = {}, isLate = false) {
  const { step = async () => false, start = async () => {}, erase = () => true, hasArchive = true } = work;
  let noted: string[] = [];
  const done: string[] = [];
  const notes: AuditNote[] = [];
  const idle = Promise.withResolvers<void>();
  const log: Log = {
    debug() {},
    info() {},
    warn: (_, text) => done.push(`warn: ${text}`),
    error: (_, text) => done.push(`error: ${text}`),
  };
  const archive: PlayerForgettingDeps["archive"] = {
    async startForgetting(id) {
      done.push(`note ${id}`);
      noted.push(id);
      await start();
    },
    continueForgetting() {
      done.push("step");
      return step();
    },
    listForgotten: async () => noted.map((id) => ({ id, names: ["Bob"] })),
    async finishForgetting(id) {
      done.push(`finish ${id}`);
      noted = noted.filter((one) => one !== id);
    },
  };
  const forgetting = new PlayerForgetting({
    archive: hasArchive ? archive : undefined,
    commands: {
      async forgetPlayer({ id, names }) {
        done.push(`commands ${[...names, id].join(":")}`);
        return erase();
      },
    },
    recorder: { flush: async () => void done.push("flush") },
    audit: {
      async add(_target, note) {
        notes.push(note);
      },
    },
    clock: () => 1_000,
    async sleep(ms) {
      if (ms === STEP_SLEEP_MS || (ms === WAIT_MS && isLate)) return;
      if (ms === IDLE_SLEEP_MS) idle.resolve();
      await new Promise(() => {});
    },
    log,
  });
  return { forgetting, done, notes, idle: idle.promise };
}

describe("forgetting a player", () => {
  test("records what waits, notes it durably, then works until it is done", async () => {
    let left = 2;
    const { forgetting, done, notes } = create({ step: async () => left-- > 0 });
    await forgetting.forget("54", ACTOR);
    expect(done).toEqual(["flush", "note 54", "step", "step", "step", "commands Bob:54", "finish 54"]);
    expect(notes).toEqual([{ at: 1_000, action: "player.forgotten", actor: ACTOR, details: {} }]);
  });

  test("a command that is not sent yet is looked at again, and the note is kept until then", async () => {
    let isFinished = false;
    const { forgetting, done, idle } = create({ erase: () => isFinished });
    await forgetting.forget("54", ACTOR);
    expect(done.slice(2)).toEqual(["step", "commands Bob:54"]);
    isFinished = true;
    forgetting.start();
    await idle;
    await forgetting.stop();
    expect(done.slice(4)).toEqual(["step", "commands Bob:54", "finish 54"]);
  });

  test("without an archive the id is taken out of the commands, because no names are known", async () => {
    const { forgetting, done } = create({ hasArchive: false });
    await forgetting.forget("54", ACTOR);
    expect(done).toEqual(["commands 54"]);
  });

  test("without an archive a command that is not finished is told, because nothing notes what is left", async () => {
    const { forgetting } = create({ hasArchive: false, erase: () => false });
    await expect(forgetting.forget("54", ACTOR)).rejects.toThrow(StoreUnavailable);
  });

  test("an operator does not wait for ever, and the work goes on", async () => {
    const step = Promise.withResolvers<boolean>();
    const { forgetting, done } = create({ step: () => step.promise }, true);
    await forgetting.forget("54", ACTOR);
    expect(done.at(-1)).toBe("step");
  });

  test("what cannot be noted fails", async () => {
    const start = async () => {
      throw new StoreUnavailable("gone");
    };
    const { forgetting } = create({ start });
    expect(await forgetting.forget("54", ACTOR).catch((error) => error)).toBeInstanceOf(StoreUnavailable);
  });

  test("once it is noted, a fault is no failure: it is logged once and tried again", async () => {
    const step = async () => {
      throw new StoreUnavailable("gone");
    };
    const { forgetting, done } = create({ step });
    await forgetting.forget("54", ACTOR);
    await forgetting.forget("55", ACTOR);
    expect(done.filter((text) => text.startsWith("warn"))).toHaveLength(1);
  });

  test("what was left before a restart is done after it", async () => {
    let left = 1;
    const { forgetting, done, idle } = create({ step: async () => left-- > 0 });
    forgetting.start();
    await idle;
    await forgetting.stop();
    expect(done).toEqual(["step", "step"]);
  });

  test.each(["0", "9".repeat(40)])("nothing has the id %s, so nothing is looked for", async (id) => {
    const { forgetting, done, notes } = create();
    await forgetting.forget(id, ACTOR);
    expect([done, notes.length]).toEqual([[], 1]);
  });
});
