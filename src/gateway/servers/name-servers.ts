// Names servers in notices for operators.
import { NAMES_MAX } from "../../core/notices.ts";
import type { ServerStore } from "../../core/ports/servers.ts";
import type { Notice } from "../../core/wire/health.ts";

/** Turns server ids into names, of the first ten. */
export type NameServers = (serverIds: readonly string[]) => string[];

/** A server that is gone meanwhile is named by its id. */
export function nameServers(servers: Pick<ServerStore, "find">, serverIds: readonly string[]): string[] {
  return serverIds.slice(0, NAMES_MAX).map((id) => servers.find(id)?.name ?? id);
}

/** How many servers a notice is about, and their names. */
export function listNoticeServers(
  serverIds: readonly string[],
  nameServers: NameServers,
): Required<Pick<Notice, "count" | "servers">> {
  return { count: serverIds.length, servers: nameServers(serverIds) };
}
