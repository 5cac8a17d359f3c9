// Names instead of ids: of all servers, and of the first keys.
import { useMemo } from "react";
import { PAGE_SIZE_MAX } from "../../../core/page-size.ts";
import type { PageOf, PageQuery } from "../../../core/wire/page.ts";
import type { ServerResource } from "../../../core/wire/server.ts";
import type { Outcome } from "../../api/request.ts";
import { useAdmin, useAdminQuery } from "../../state/use-admin.ts";

/** More servers than anybody chooses from in a list. */
const PAGES_MAX = 10;

export type ServerNames = {
  readonly servers: readonly ServerResource[];
  readonly nameOf: (serverId: string | null) => string | undefined;
  readonly isLoading: boolean;
};

export function useServerNames(): ServerNames {
  const admin = useAdmin();
  const { value, isLoading } = useAdminQuery(["servers", "names"], () => readAll(admin.listServers));
  return useMemo(() => {
    const servers = value ?? [];
    const names = new Map(servers.map(({ server_id: id, name }) => [id, name]));
    return { servers, nameOf: (id) => (id === null ? undefined : names.get(id)), isLoading };
  }, [value, isLoading]);
}

/** Labels of keys, as far as they are known. */
export function useKeyLabels(): (keyId: string) => string | undefined {
  const admin = useAdmin();
  const { value } = useAdminQuery(["keys", "labels"], () => readAll(admin.listKeys));
  return useMemo(() => {
    const labels = new Map(value?.map(({ key_id: id, label }) => [id, label]));
    return (id) => labels.get(id);
  }, [value]);
}

/** Every page of a list, as far as it is sensible. */
export async function readAll<T>(
  readPage: (query: PageQuery) => Promise<Outcome<PageOf<T>>>,
): Promise<Outcome<readonly T[]>> {
  const items: T[] = [];
  let cursor: string | null = null;
  for (let pages = 1; ; pages += 1) {
    const outcome: Outcome<PageOf<T>> = await readPage({
      limit: PAGE_SIZE_MAX,
      ...(cursor !== null && { cursor }),
    });
    if (!outcome.ok) return outcome;
    items.push(...outcome.value.items);
    cursor = outcome.value.next;
    if (cursor === null || pages === PAGES_MAX) return { ...outcome, value: items };
  }
}
