// The answer to a submission, while the store writes it and afterwards.
import { describe, expect, test } from "bun:test";
import { ERRORS, isRefusal, type Refusal, refuse, StoreUnavailable } from "../../core/errors.ts";
import type { Acceptance, CommandDraft } from "../../core/ports/commands.ts";
import { CommandSubmitter } from "./submit-command.ts";

const RECEIPT = { commandId: "cmd_1", position: 1, queuedAt: 5 };
const draft = (change: Partial<CommandDraft> = {}): CommandDraft => ({
  serverId: "srv_1",
  keyId: "key_1",
  text: ":h",
  idempotencyKey: "k",
  ...change,
});

/** A store whose results the test sets. */
function createSubmission(intervalMs = 5_000) {
  const waiting: PromiseWithResolvers<Acceptance>[] = [];
  const notified: string[] = [];
  const waitingMaxima: (number | undefined)[] = [];
  const submitter = new CommandSubmitter({
    commands: {
      accept: (_draft, _now, waitingMax) => {
        waitingMaxima.push(waitingMax);
        const one = Promise.withResolvers<Acceptance>();
        waiting.push(one);
        return one.promise;
      },
    },
    intervalMs,
    findParkedRefusal: () => undefined,
    notify: (serverId) => notified.push(serverId),
  });
  return {
    submit: (change?: Partial<CommandDraft>, known?: Refusal) => submitter.submit(draft(change), 5, known),
    /** How many commands the queue may hold for each submission; undefined for the usual number. */
    waitingMaxima,
    waiting,
    notified,
  };
}

describe("a submission", () => {
  test("is answered after the store has accepted it, and only then the dispatcher is notified", async () => {
    const { submit, waiting, notified } = createSubmission();
    let isAnswered = false;
    const answer = submit().finally(() => {
      isAnswered = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect([isAnswered, notified]).toEqual([false, []]);
    waiting[0]?.resolve({ receipt: RECEIPT });
    expect(await answer).toEqual(RECEIPT);
    expect(notified).toEqual(["srv_1"]);
  });

  test("with an Idempotency-Key that is under way is 409/5105 and never reaches the store", async () => {
    const { submit, waiting } = createSubmission();
    const first = submit();
    const second = await submit({ text: ":other" });
    expect(isRefusal(second) && second.refused).toMatchObject({ code: 5105, status: 409 });
    expect(waiting).toHaveLength(1);
    waiting[0]?.resolve({ receipt: RECEIPT });
    await first;
    void submit();
    expect(waiting).toHaveLength(2);
  });

  test.each([
    ["another API key", { keyId: "key_2" }],
    ["another Idempotency-Key", { idempotencyKey: "l" }],
    ["no Idempotency-Key", { idempotencyKey: undefined }],
  ])("of %s does not wait for the others", (_, change) => {
    const { submit, waiting } = createSubmission();
    void submit();
    void submit(change);
    expect(waiting).toHaveLength(2);
  });

  test("that the store cannot write throws, does not notify the dispatcher, and can be retried", async () => {
    const { submit, waiting, notified } = createSubmission();
    const first = submit();
    waiting[0]?.reject(new StoreUnavailable("full"));
    expect(await first.catch((error) => error)).toBeInstanceOf(StoreUnavailable);
    expect(notified).toEqual([]);
    const second = submit();
    waiting[1]?.resolve({ receipt: RECEIPT });
    expect(await second).toEqual(RECEIPT);
  });

  test.each([
    [5_000, 5],
    [1, 1],
    [1_001, 2],
  ])("to a full queue with an interval of %d ms is 5015 with a Retry-After of %d s", async (intervalMs, seconds) => {
    const { submit, waiting, notified } = createSubmission(intervalMs);
    const answer = submit();
    waiting[0]?.resolve({ declined: "full" });
    expect(await answer).toMatchObject({
      refused: { code: 5015, status: 429 },
      fields: { retry_after: seconds },
      headers: { "Retry-After": String(seconds) },
    });
    expect(notified).toEqual([]);
  });

  test("that is known to fail is refused with the reason and not queued, but a repeated one gets its receipt", async () => {
    const { submit, waiting, notified, waitingMaxima } = createSubmission();
    const known = refuse(ERRORS.gameApi, { upstream_code: 3002 });
    const joining = { idempotencyKey: undefined, joinsSame: true };
    expect(await submit({ idempotencyKey: undefined }, known)).toBe(known);
    const added = submit(joining, known);
    waiting[0]?.resolve({ declined: "full" });
    expect(await added).toBe(known);
    expect(notified).toEqual([]);
    const repeated = submit(joining, known);
    waiting[1]?.resolve({ receipt: RECEIPT });
    expect(await repeated).toEqual(RECEIPT);
    expect(waitingMaxima).toEqual([0, 0]);
  });

  test("with a used Idempotency-Key and another text is 422/5105", async () => {
    const { submit, waiting } = createSubmission();
    const answer = submit();
    waiting[0]?.resolve({ declined: "mismatch" });
    expect(await answer).toMatchObject({ refused: { code: 5105, status: 422 } });
  });
});
