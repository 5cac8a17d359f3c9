// Names servers in sentences for operators.
import type { ServerStore } from "../../core/ports/servers.ts";

/** More names would make a sentence unreadable. */
export const NAMES_MAX = 10;

/** Turns server ids into a list of names. */
export type NameServers = (serverIds: readonly string[]) => string;

/** "Cedar, Oak and 3 more". A server that is gone meanwhile is named by its id. */
export function nameServers(servers: Pick<ServerStore, "find">, serverIds: readonly string[]): string {
  const names = serverIds.slice(0, NAMES_MAX).map((id) => servers.find(id)?.name ?? id);
  const others = serverIds.length - names.length;
  return others === 0 ? names.join(", ") : `${names.join(", ")} and ${others} more`;
}
