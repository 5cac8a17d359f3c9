// Pages of servers and keys, oldest first. Each list is a sorted set by `seq`; a cursor is the seq of the last item shown.
import { NAMES } from "./names.ts";
import type { RedisLink } from "./redis-link.ts";

const READ_AT_ONCE = 500;

/** A position in lists, after all earlier ones. */
export async function nextSeq(link: RedisLink): Promise<number> {
  return Number(await link.send(NAMES.counter, "INCR", NAMES.counter));
}

export async function listIds(
  link: RedisLink,
  order: string,
  limit: number,
  cursor: string | undefined,
): Promise<{ ids: string[]; next: string | null }> {
  const after = cursor === undefined ? "-inf" : `(${Number.parseInt(cursor, 36) || 0}`;
  const range = ["ZRANGE", order, after, "+inf", "BYSCORE", "LIMIT", 0, limit + 1, "WITHSCORES"];
  const flat = (await link.send(order, ...range)) as string[];
  const ids = flat.filter((_, index) => index % 2 === 0);
  const lastSeq = flat[limit * 2 - 1];
  const next = ids.length > limit && lastSeq !== undefined ? Number(lastSeq).toString(36) : null;
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
