// The servers in the background: read slowly, one after the other, each within the limit of its own key.
import { describe, expect, test } from "bun:test";
import { FakeTimers } from "../../../../test/fake-timers.ts";
import { ERRORS } from "../../../core/errors.ts";
import { SECTIONS, type Section } from "../../../core/sections.ts";
import { createCallerApi } from "../../api/caller.ts";
import { Pace } from "../../api/pace.ts";
import type { ApiCallOptions, Outcome } from "../../api/request.ts";
import { FLEET_INTERVAL_MS, type FleetMember, FleetPoll, STAGGER_MS } from "./fleet-poll.ts";

type Request = { readonly id: string; readonly at: number; readonly sections: string };

class Stage {
  readonly timers = new FakeTimers();
  readonly requests: Request[] = [];
  readonly readings: string[] = [];
  readonly waiting: string[] = [];
  callLists = 0;
  error: { code: number; status: number; retryAfter?: number } | undefined;
  /** What the key may read when it is asked for. */
  rightsNow: readonly Section[] = SECTIONS;
  /** Whether the callers of the calls that wait are on the server; undefined without an archive. */
  callers: readonly boolean[] | undefined = [];

  member(id: string, sections: readonly Section[] = SECTIONS): FleetMember {
    const pace = new Pace();
    const api = createCallerApi(async <T>(path: string, options: ApiCallOptions = {}) => {
      if (path.endsWith("/modcalls")) return this.#answerCalls() as Outcome<T>;
      const isForKey = path.endsWith("/key");
      const asked = isForKey ? "the key" : Object.keys(options.query ?? {}).join();
      this.requests.push({ id, at: this.timers.now, sections: asked });
      const outcome = isForKey ? this.#succeed({ sections: this.rightsNow }) : this.#answer();
      pace.observe(outcome);
      return outcome as Outcome<T>;
    });
    return { id, session: { api, pace, sections } };
  }

  poll(members: readonly FleetMember[]): FleetPoll {
    return new FleetPoll(
      members,
      ({ id }, { condition, waiting }) => {
        this.readings.push(`${id} ${condition}`);
        this.waiting.push(`${id} ${waiting}`);
      },
      () => this.timers.now,
      this.timers.set,
    );
  }

  async advance(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += STAGGER_MS) {
      this.timers.advance(STAGGER_MS);
      for (let turns = 0; turns < 10; turns++) await Promise.resolve();
    }
  }

  #answer(): Outcome<unknown> {
    return this.error ? this.#fail(this.error) : this.#succeed({ Name: "x", CurrentPlayers: 3 });
  }

  #answerCalls(): Outcome<unknown> {
    this.callLists++;
    if (!this.callers) return this.#fail({ code: ERRORS.notConfigured.code, status: 501 });
    return this.#succeed({ items: this.callers.map((is_here) => ({ is_here })), next: null });
  }

  #fail(fields: { code: number; status: number; retryAfter?: number }): Outcome<unknown> {
    const none = { upstreamCode: undefined, upstreamMessage: undefined, retryAfter: undefined };
    const error = { message: "no", details: undefined, ...none, ...fields };
    return { ok: false, error, receivedAt: this.timers.now, limit: undefined };
  }

  #succeed(value: unknown): Outcome<unknown> {
    const receivedAt = this.timers.now;
    return { ok: true, status: 200, value, etag: null, ageMs: 0, receivedAt, limit: undefined };
  }
}

describe("the poll of the servers in the background", () => {
  test("begins with one server after the other, and reads each of them every half minute", async () => {
    const stage = new Stage();
    const poll = stage.poll([stage.member("a"), stage.member("b"), stage.member("c")]);
    poll.start();
    await stage.advance(2_000);
    expect(stage.requests.map(({ id }) => id)).toEqual(["a", "b", "c"]);
    expect(new Set(stage.requests.map(({ at }) => at)).size).toBe(3);
    await stage.advance(FLEET_INTERVAL_MS - 4_000);
    expect(stage.requests).toHaveLength(3);
    await stage.advance(8_000);
    expect(stage.requests).toHaveLength(6);
    poll.stop();
  });

  test("reads only what the overview counts and the key may read", async () => {
    const stage = new Stage();
    const poll = stage.poll([
      stage.member("a"),
      stage.member("b", ["Players", "Staff", "ModCalls"]),
      stage.member("c", []),
    ]);
    poll.start();
    await stage.advance(2_000);
    expect(stage.requests.map(({ sections }) => sections)).toEqual([
      "Players,Queue,ModCalls,EmergencyCalls",
      "Players,ModCalls",
      "",
    ]);
    poll.stop();
  });

  test("counts the calls that wait as Gatehouse remembers them, and asks no more where it remembers none", async () => {
    const stage = new Stage();
    stage.callers = [true, false, true];
    const poll = stage.poll([stage.member("a"), stage.member("b", ["Players"])]);
    poll.start();
    await stage.advance(2_000);
    expect(stage.waiting.toSorted()).toEqual(["a 2", "b undefined"]);
    stage.callers = undefined;
    await stage.advance(3 * FLEET_INTERVAL_MS);
    expect(new Set(stage.waiting.slice(2))).toEqual(new Set(["a undefined", "b undefined"]));
    expect(stage.callLists).toBe(2);
    poll.stop();
  });

  test("reads no other sections after one was removed from the key", async () => {
    const stage = new Stage();
    stage.error = { code: ERRORS.sectionForbidden.code, status: 403 };
    stage.rightsNow = SECTIONS.filter((name) => name !== "Queue");
    const poll = stage.poll([stage.member("a")]);
    poll.start();
    await stage.advance(1_000);
    expect(stage.requests.map(({ sections }) => sections)).toEqual([
      "Players,Queue,ModCalls,EmergencyCalls",
      "the key",
      "Players,ModCalls,EmergencyCalls",
    ]);
    poll.stop();
  });

  test("reads nothing after it was stopped, and goes on later with what it knew, when it is due", async () => {
    const stage = new Stage();
    const members = [stage.member("a")];
    const first = stage.poll(members);
    first.start();
    await stage.advance(1_000);
    first.stop();
    await stage.advance(10_000);
    const second = stage.poll(members);
    second.start();
    expect(stage.readings).toEqual(["a ok", "a ok"]);
    await stage.advance(10_000);
    expect(stage.requests).toHaveLength(1);
    await stage.advance(15_000);
    expect(stage.requests).toHaveLength(2);
    second.stop();
    await stage.advance(4 * FLEET_INTERVAL_MS);
    expect(stage.requests).toHaveLength(2);
  });

  test("waits for the end of a block, and does not ask again with a key that was revoked", async () => {
    const stage = new Stage();
    stage.error = { code: ERRORS.spamBlocked.code, status: 429, retryAfter: 300 };
    const poll = stage.poll([stage.member("a")]);
    poll.start();
    await stage.advance(290_000);
    expect(stage.readings).toEqual(["a blocked"]);
    stage.error = { code: ERRORS.invalidToken.code, status: 401 };
    await stage.advance(60_000);
    expect(stage.readings).toEqual(["a blocked", "a refused"]);
    await stage.advance(300_000);
    expect(stage.requests).toHaveLength(2);
    poll.stop();
  });
});
