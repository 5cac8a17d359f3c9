// The commands that this tab has handed in and has no certain answer for yet, and the lines typed before. In memory, for
// each key of its own: nothing of one session is seen by the next.

import { ERRORS } from "../../../core/errors.ts";
import type { CommandReceipt } from "../../../core/wire/command.ts";
import type { CallerApi } from "../../api/caller.ts";
import { type ApiError, UNREACHABLE } from "../../api/request.ts";

/**
 * `sending`: on its way to Gatehouse. `lost`: nobody knows whether it arrived; asking again with the same idempotency
 * key is safe. `refused`: it was not taken. `accepted`: taken, and not in the list yet.
 */
export type Submission = {
  readonly idempotencyKey: string;
  readonly text: string;
  readonly phase: "sending" | "lost" | "refused" | "accepted";
  readonly error: ApiError | undefined;
  /** When Gatehouse said to come back. */
  readonly retryAt: number | undefined;
  readonly receipt: CommandReceipt | undefined;
};

const LINES_MAX = 100;
const SUBMISSIONS_MAX = 100;
const DESKS = new WeakMap<CallerApi, SubmissionDesk>();

/** Not only a fault of the moment, but one in which the command may have been taken. */
const UNCERTAIN: ReadonlySet<number> = new Set([UNREACHABLE, ERRORS.internal.code]);

export function findDesk(api: CallerApi): SubmissionDesk {
  const desk = DESKS.get(api) ?? new SubmissionDesk(api);
  DESKS.set(api, desk);
  return desk;
}

export class SubmissionDesk {
  readonly #api: CallerApi;
  readonly #listeners = new Set<() => void>();
  #submissions: readonly Submission[] = [];
  #lines: readonly string[] = [];

  constructor(api: CallerApi) {
    this.#api = api;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Newest first. */
  readonly read = (): readonly Submission[] => this.#submissions;

  /** What was typed before, oldest first. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  /** Hands in a new command. The promise is kept when there is an answer, or none. */
  submit(text: string): Promise<Submission> {
    this.#lines = [...this.#lines.filter((line) => line !== text), text].slice(-LINES_MAX);
    const submission: Submission = {
      idempotencyKey: mintKey(),
      text,
      phase: "sending",
      error: undefined,
      retryAt: undefined,
      receipt: undefined,
    };
    this.#submissions = [submission, ...this.#submissions].slice(0, SUBMISSIONS_MAX);
    return this.#send(submission);
  }

  /** Asks again with the same key: Gatehouse takes the command once, however often this is done. */
  retry(submission: Submission): Promise<Submission> {
    return this.#send(submission);
  }

  forget({ idempotencyKey }: Submission): void {
    this.#submissions = this.#submissions.filter((other) => other.idempotencyKey !== idempotencyKey);
    this.#tell();
  }

  /** Those that the list shows by now. */
  forgetListed(commandIds: ReadonlySet<string>): void {
    const rest = this.#submissions.filter(({ receipt }) => !receipt || !commandIds.has(receipt.command_id));
    if (rest.length === this.#submissions.length) return;
    this.#submissions = rest;
    this.#tell();
  }

  async #send(submission: Submission): Promise<Submission> {
    this.#replace({ ...submission, phase: "sending", error: undefined, retryAt: undefined });
    const outcome = await this.#api.sendCommand(submission.text, submission.idempotencyKey);
    const after: Submission = outcome.ok
      ? { ...submission, phase: "accepted", error: undefined, retryAt: undefined, receipt: outcome.value }
      : {
          ...submission,
          phase: isUncertain(outcome.error) ? "lost" : "refused",
          error: outcome.error,
          retryAt:
            outcome.error.retryAfter === undefined
              ? undefined
              : outcome.receivedAt + outcome.error.retryAfter * 1000,
        };
    this.#replace(after);
    return after;
  }

  #replace(submission: Submission): void {
    this.#submissions = this.#submissions.map((other) =>
      other.idempotencyKey === submission.idempotencyKey ? submission : other,
    );
    this.#tell();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

function isUncertain({ code, status }: ApiError): boolean {
  return UNCERTAIN.has(code) || (code === ERRORS.idempotencyInFlight.code && status === 409);
}

/** `crypto.randomUUID` is missing where the page came without TLS. */
function mintKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}
