// Counts the large answers that are not sent completely, so that readers who take theirs slowly cannot fill the memory. The
// runtime does not report the end of an answer: until then it knows the address of the request's socket, afterwards it does
// not.
import type { Call, Connection } from "../call.ts";

/** The distinct bodies of all unsent answers: answers with the same body share its memory. */
export const UNSENT_BYTES_MAX = 256 * 1024 ** 2;
/** The distinct bodies of one key's unsent answers, so that one key cannot use up what all keys share. */
export const UNSENT_BYTES_PER_KEY_MAX = 64 * 1024 ** 2;

/** Smaller bodies fit into the socket's buffer. */
export const COUNTED_BYTES_MIN = 65_536;
/** Finished answers are looked for when the list has doubled, but not for fewer than this many. */
const CHECKED_MIN = 32;
/** While the maximum is reached, finished answers are looked for at most this often. */
const CHECK_PAUSE_MS = 250;
/** While the maximum is reached, readers that have waited for this long must go on reading. */
const PATIENCE_MS = 4_000;
const SHORT_IDLE_SECONDS = 1;

type Unsent = {
  readonly request: Request;
  readonly connection: Connection;
  readonly bodyId: number;
  readonly bytes: number;
  readonly keyId: string;
  readonly startedAt: number;
};

export type UnsentLimits = { readonly bytesMax: number; readonly bytesPerKeyMax: number };

export class UnsentAnswers {
  /** Oldest first. Some may be finished. */
  #answers: Unsent[] = [];
  /** How many answers are sent from each body. */
  readonly #bodies = new Map<number, number>();
  readonly #bodiesOfKeys = new Map<string, { readonly ids: Set<number>; bytes: number }>();
  #bytes = 0;
  #checkAt = CHECKED_MIN;
  #checkedAt = Number.NEGATIVE_INFINITY;
  /** A blob is named by a number, because keeping the blob would keep its memory. */
  readonly #ids = new WeakMap<Blob, number>();
  #lastId = 0;

  constructor(
    private readonly limits: UnsentLimits = { bytesMax: UNSENT_BYTES_MAX, bytesPerKeyMax: UNSENT_BYTES_PER_KEY_MAX },
  ) {}

  /** The memory of the bodies that are being sent; finished answers may still be included. */
  get bytes(): number {
    return this.#bytes;
  }

  get bytesMax(): number {
    return this.limits.bytesMax;
  }

  /** Counts the answer if it is large. False means that too much is unsent already. */
  add(call: Call, keyId: string, body: Blob): boolean {
    if (body.size < COUNTED_BYTES_MIN) return true;
    const bodyId = this.#idOf(body);
    if (this.#answers.length >= this.#checkAt) this.#dropFinished(call.startedAt);
    if (!this.#hasRoom(bodyId, body.size, keyId)) {
      if (call.startedAt - this.#checkedAt < CHECK_PAUSE_MS) return false;
      this.#dropFinished(call.startedAt);
      if (!this.#hasRoom(bodyId, body.size, keyId)) {
        this.#hurryReaders(call.startedAt);
        return false;
      }
    }
    const { request, connection, startedAt } = call;
    const answer = { request, connection, bodyId, bytes: body.size, keyId, startedAt };
    this.#answers.push(answer);
    this.#count(answer);
    return true;
  }

  #hasRoom(bodyId: number, bytes: number, keyId: string): boolean {
    const { bytesMax, bytesPerKeyMax } = this.limits;
    const ofKey = this.#bodiesOfKeys.get(keyId);
    if (ofKey && !ofKey.ids.has(bodyId) && ofKey.bytes + bytes > bytesPerKeyMax) return false;
    return this.#bodies.has(bodyId) || this.#bytes + bytes <= bytesMax;
  }

  #count({ bodyId, bytes, keyId }: Unsent): void {
    const answers = this.#bodies.get(bodyId) ?? 0;
    if (answers === 0) this.#bytes += bytes;
    this.#bodies.set(bodyId, answers + 1);
    const ofKey = this.#bodiesOfKeys.get(keyId) ?? { ids: new Set(), bytes: 0 };
    if (!ofKey.ids.has(bodyId)) ofKey.bytes += bytes;
    ofKey.ids.add(bodyId);
    this.#bodiesOfKeys.set(keyId, ofKey);
  }

  #dropFinished(now: number): void {
    this.#answers = this.#answers.filter(({ request, connection }) => connection.requestIP(request) !== null);
    this.#bytes = 0;
    this.#bodies.clear();
    this.#bodiesOfKeys.clear();
    for (const answer of this.#answers) this.#count(answer);
    this.#checkAt = Math.max(CHECKED_MIN, 2 * this.#answers.length);
    this.#checkedAt = now;
  }

  /** The runtime then cuts those that take nothing for a few seconds. */
  #hurryReaders(now: number): void {
    for (const { request, connection, startedAt } of this.#answers) {
      if (now - startedAt < PATIENCE_MS) return;
      connection.timeout(request, SHORT_IDLE_SECONDS);
    }
  }

  #idOf(body: Blob): number {
    const known = this.#ids.get(body);
    if (known !== undefined) return known;
    this.#ids.set(body, ++this.#lastId);
    return this.#lastId;
  }
}
