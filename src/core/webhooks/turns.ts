// Whose turn it is to send: at most so many webhooks at a time, and none of them can keep the others waiting.

/** Requests under way on one instance. Each webhook has one at most. */
export const REQUESTS_MAX = 32;
/** Those of webhooks whose last attempt failed: they may take as long as the deadline allows. */
export const FAILING_REQUESTS_MAX = 16;
/** Those to one host, which may hang with all its webhooks at once. */
export const HOST_REQUESTS_MAX = 16;

export type TurnTaker = { readonly host: string; readonly isFailing: boolean };

/** Chooses from `ready`, which is in order of waiting, beside those that are under way. */
export function chooseTurns<T extends TurnTaker>(ready: readonly T[], underWay: readonly TurnTaker[]): T[] {
  const hosts = new Map<string, number>();
  let failing = 0;
  const add = ({ host, isFailing }: TurnTaker) => {
    hosts.set(host, (hosts.get(host) ?? 0) + 1);
    if (isFailing) failing++;
  };
  for (const taker of underWay) add(taker);
  const chosen: T[] = [];
  for (const taker of ready) {
    if (underWay.length + chosen.length >= REQUESTS_MAX) break;
    if ((hosts.get(taker.host) ?? 0) >= HOST_REQUESTS_MAX) continue;
    if (taker.isFailing && failing >= FAILING_REQUESTS_MAX) continue;
    add(taker);
    chosen.push(taker);
  }
  return chosen;
}
