// Searches the keys for a page of matches. No index helps to find a part of a label, so the keys are read in their order, a
// bounded number for each page.
import { isMatchingKey, type KeySearch, type StateFields } from "../core/key-state.ts";
import type { MaybePromise } from "../core/maybe-promise.ts";

export const READ_AT_ONCE = 500;
/** A search that has read so many keys ends its page, and the next page goes on from there. */
export const READ_MAX = 20_000;

export type Candidate = StateFields & {
  readonly seq: number;
  readonly keyId: string;
  readonly label: string;
};

/** `nextSeq` is null when there are no candidates left. */
export type Batch<C> = { readonly candidates: readonly C[]; readonly nextSeq: number | null };

export type KeySource<C extends Candidate> = {
  /** At most READ_AT_ONCE candidates after that position, in order. */
  readonly read: (afterSeq: number) => MaybePromise<Batch<C>>;
  readonly findBlocked: (keyIds: readonly string[]) => Promise<ReadonlySet<string>>;
};

/** `nextSeq` is the position of the last key that was looked at, null after the last key of all. */
export async function searchKeys<C extends Candidate>(
  source: KeySource<C>,
  search: KeySearch,
  afterSeq: number,
  limit: number,
): Promise<{ found: C[]; nextSeq: number | null }> {
  const found: C[] = [];
  let position = afterSeq;
  for (let read = 0; read < READ_MAX; read += READ_AT_ONCE) {
    const { candidates, nextSeq } = await source.read(position);
    const isBlockAsked = search.state === "blocked" || search.state === "active";
    const blocked = isBlockAsked ? await source.findBlocked(candidates.map(({ keyId }) => keyId)) : undefined;
    for (const candidate of candidates) {
      if (!isMatchingKey(search, candidate, blocked?.has(candidate.keyId) ?? false)) continue;
      // One match more than the page holds shows that there is a next page.
      if (found.length === limit) return { found, nextSeq: found.at(-1)?.seq ?? null };
      found.push(candidate);
    }
    if (nextSeq === null) return { found, nextSeq: null };
    position = nextSeq;
    // Other requests get their turn between two batches.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { found, nextSeq: position };
}
