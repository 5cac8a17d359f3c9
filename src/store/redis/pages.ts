// Pages of servers and keys, oldest first. Each list is a sorted set by `seq`; a cursor is the seq of the last item shown.
import { NAMES } from "./names.ts";
import type { RedisLink } from "./redis-link.ts";

const READ_AT_ONCE = 500;

/** A position in lists, after all earlier ones. */
export async function nextSeq(link: RedisLink): Promise<number> {
  return Number(await link.send(NAMES.counter, "INCR", NAMES.counter));
}

export function toSeq(cursor: string | undefined): number {
  return cursor === undefined ? 0 : Number.parseInt(cursor, 36) || 0;
}

export function toCursor(seq: number): string {
  return seq.toString(36);
}

/** The positions of these ids; those that are not in the list are left out. */
export async function findPlaces(
  link: RedisLink,
  order: string,
  ids: readonly string[],
): Promise<{ id: string; seq: number }[]> {
  const places: { id: string; seq: number }[] = [];
  for (let done = 0; done < ids.length; done += READ_AT_ONCE) {
    const batch = ids.slice(done, done + READ_AT_ONCE);
    const seqs = (await link.send(order, "ZMSCORE", order, ...batch)) as (string | null)[];
    for (const [index, id] of batch.entries()) {
      const seq = seqs[index] ?? null;
      if (seq !== null) places.push({ id, seq: Number(seq) });
    }
  }
  return places;
}

export async function listIds(
  link: RedisLink,
  order: string,
  limit: number,
  cursor: string | undefined,
): Promise<{ ids: string[]; next: string | null }> {
  const after = cursor === undefined ? "-inf" : `(${toSeq(cursor)}`;
  const range = ["ZRANGE", order, after, "+inf", "BYSCORE", "LIMIT", 0, limit + 1, "WITHSCORES"];
  const flat = (await link.send(order, ...range)) as string[];
  const ids = flat.filter((_, index) => index % 2 === 0);
  const lastSeq = flat[limit * 2 - 1];
  const next = ids.length > limit && lastSeq !== undefined ? toCursor(Number(lastSeq)) : null;
  return { ids: ids.slice(0, limit), next };
}

/** The whole list, read page by page. */
export async function* readAll<T>(
  link: RedisLink,
  order: string,
  read: (ids: readonly string[]) => Promise<T[]>,
): AsyncGenerator<T> {
  let cursor: string | undefined;
  do {
    const { ids, next } = await listIds(link, order, READ_AT_ONCE, cursor);
    yield* await read(ids);
    cursor = next ?? undefined;
  } while (cursor !== undefined);
}
