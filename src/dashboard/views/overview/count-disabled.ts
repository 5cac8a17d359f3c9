// Reads from the notices of /readyz how many webhooks were disabled: the list of webhooks would count what waits for each.

const NOTICE = /^(\d+) webhooks? (?:was|were) disabled /;

/** How many webhooks were disabled because of their receivers. */
export function countDisabled(notices: readonly string[]): number {
  return Number(notices.map((notice) => NOTICE.exec(notice)?.[1]).find((count) => count !== undefined) ?? 0);
}
