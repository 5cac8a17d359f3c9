import { expect, test } from "bun:test";
import { type Candidate, READ_AT_ONCE, READ_MAX, searchKeys } from "./keys.ts";

const NOW = 1_800_000_000_000;

/** Keys with the positions 1 to `count`; those with the given positions are labelled "wanted". */
function createSource(count: number, wanted: readonly number[]) {
  const reads: number[] = [];
  const read = (afterSeq: number) => {
    reads.push(afterSeq);
    const candidates: Candidate[] = [];
    for (let seq = afterSeq + 1; seq <= Math.min(count, afterSeq + READ_AT_ONCE); seq++) {
      const label = wanted.includes(seq) ? "wanted" : "other";
      candidates.push({
        seq,
        keyId: `key_${seq}`,
        label,
        revokedAt: null,
        expiresAt: null,
        isSuspended: false,
      });
    }
    const last = afterSeq + candidates.length;
    return { candidates, nextSeq: last < count ? last : null };
  };
  const search = (afterSeq: number, limit: number) =>
    searchKeys({ read, findBlocked: async () => new Set() }, { label: "wanted", now: NOW }, afterSeq, limit);
  return { reads, search };
}

test("one page reads at most READ_MAX keys, and the next one goes on from there", async () => {
  const late = READ_MAX + 7;
  const { reads, search } = createSource(5 * READ_MAX, [late]);
  const first = await search(0, 10);
  expect(first).toEqual({ found: [], nextSeq: READ_MAX });
  expect(reads).toHaveLength(READ_MAX / READ_AT_ONCE);
  const second = await search(READ_MAX, 10);
  expect(second.found.map(({ seq }) => seq)).toEqual([late]);
  expect(second.nextSeq).toBe(2 * READ_MAX);
});

test("a page ends with its last match, and only when there is another match after it", async () => {
  const wanted = [3, 600, 601, 1_200];
  const { search } = createSource(1_300, wanted);
  const pages: number[][] = [];
  let position: number | null = 0;
  while (position !== null) {
    const { found, nextSeq } = await search(position, 2);
    pages.push(found.map(({ seq }) => seq));
    position = nextSeq;
  }
  expect(pages).toEqual([
    [3, 600],
    [601, 1_200],
  ]);
});
