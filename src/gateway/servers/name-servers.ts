// Names servers in notices for operators.
import type { ServerStore } from "../../core/ports/servers.ts";
import type { Notice } from "../../core/wire/health.ts";

/** More names would make a sentence unreadable. */
export const NAMES_MAX = 10;

/** Turns server ids into names, of the first ten. */
export type NameServers = (serverIds: readonly string[]) => readonly string[];

/** How many servers a notice is about, and for operators their names. */
export type NoticeServers = Pick<Notice, "servers"> & { readonly count: number };

/** A server that is gone meanwhile is named by its id. */
export function nameServers(servers: Pick<ServerStore, "find">, serverIds: readonly string[]): string[] {
  return serverIds.slice(0, NAMES_MAX).map((id) => servers.find(id)?.name ?? id);
}

export function listNoticeServers(serverIds: readonly string[], nameServers?: NameServers): NoticeServers {
  return { count: serverIds.length, ...(nameServers && { servers: nameServers(serverIds) }) };
}

/** "Cedar, Oak and 3 more", or undefined without names. */
export function joinNames({ count, servers }: NoticeServers): string | undefined {
  if (!servers) return undefined;
  const others = count - servers.length;
  return others === 0 ? servers.join(", ") : `${servers.join(", ")} and ${others} more`;
}
