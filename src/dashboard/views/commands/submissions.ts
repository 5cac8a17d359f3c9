// The commands that this tab has sent and that are not in the command list yet, and the lines typed before. They are in
// memory, one store per session, so that no session sees the commands of another.
import { ERRORS } from "../../../core/errors.ts";
import type { CommandReceipt } from "../../../core/wire/command.ts";
import type { CallerApi } from "../../api/caller.ts";
import { type ApiError, UNREACHABLE } from "../../api/request.ts";

/**
 * `sending`: the request is under way. `lost`: it is unknown whether the command arrived; a retry with the same
 * idempotency key is safe. `refused`: Gatehouse did not accept it. `accepted`: accepted, and not in the list yet.
 */
export type Submission = {
  readonly idempotencyKey: string;
  readonly text: string;
  readonly phase: "sending" | "lost" | "refused" | "accepted";
  readonly error: ApiError | undefined;
  /** From the Retry-After of Gatehouse. */
  readonly retryAt: number | undefined;
  readonly receipt: CommandReceipt | undefined;
};

const LINES_MAX = 100;
const SUBMISSIONS_MAX = 100;
const STORES = new WeakMap<CallerApi, SubmissionStore>();

/** Errors after which Gatehouse may have accepted the command. */
const UNCERTAIN_CODES: ReadonlySet<number> = new Set([UNREACHABLE, ERRORS.internal.code]);

/** The store of a session; created by the first call. */
export function getSubmissionStore(api: CallerApi): SubmissionStore {
  const store = STORES.get(api) ?? new SubmissionStore(api);
  STORES.set(api, store);
  return store;
}

export class SubmissionStore {
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

  /** The lines typed before, oldest first. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  /** Sends a new command. Resolves when there is an answer, or when it is lost. */
  submit(text: string): Promise<Submission> {
    this.#lines = [...this.#lines.filter((line) => line !== text), text].slice(-LINES_MAX);
    const submission: Submission = {
      idempotencyKey: mintIdempotencyKey(),
      text,
      phase: "sending",
      error: undefined,
      retryAt: undefined,
      receipt: undefined,
    };
    this.#submissions = [submission, ...this.#submissions].slice(0, SUBMISSIONS_MAX);
    return this.#send(submission);
  }

  /** Sends it again with the same idempotency key: Gatehouse accepts the command only once. */
  retry(submission: Submission): Promise<Submission> {
    return this.#send(submission);
  }

  remove({ idempotencyKey }: Submission): void {
    this.#submissions = this.#submissions.filter((other) => other.idempotencyKey !== idempotencyKey);
    this.#notify();
  }

  /** Removes the submissions that the command list now shows. */
  removeListed(commandIds: ReadonlySet<string>): void {
    const rest = this.#submissions.filter(({ receipt }) => !receipt || !commandIds.has(receipt.command_id));
    if (rest.length === this.#submissions.length) return;
    this.#submissions = rest;
    this.#notify();
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
            outcome.error.retryAfter === undefined ? undefined : outcome.receivedAt + outcome.error.retryAfter * 1000,
        };
    this.#replace(after);
    return after;
  }

  #replace(submission: Submission): void {
    this.#submissions = this.#submissions.map((other) =>
      other.idempotencyKey === submission.idempotencyKey ? submission : other,
    );
    this.#notify();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}

function isUncertain({ code, status }: ApiError): boolean {
  return UNCERTAIN_CODES.has(code) || (code === ERRORS.idempotencyInFlight.code && status === 409);
}

/** `crypto.randomUUID` does not exist on a page without TLS. */
function mintIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
