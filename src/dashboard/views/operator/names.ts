// Finds the names of servers and the labels of keys by id.
import { useMemo } from "react";
import { PAGE_SIZE_MAX } from "../../../core/page-size.ts";
import type { PageOf, PageQuery } from "../../../core/wire/page.ts";
import type { ServerResource } from "../../../core/wire/server.ts";
import type { Outcome } from "../../api/request.ts";
import { useAdmin, useAdminQuery } from "../../state/use-admin.ts";

/** Names beyond these pages are not loaded; their ids are shown instead. */
const PAGES_MAX = 10;

export type ServerNames = {
  readonly servers: readonly ServerResource[];
  readonly nameOf: (serverId: string | null) => string | undefined;
  readonly isLoading: boolean;
};

export function useServerNames(): ServerNames {
  const admin = useAdmin();
  const { value, isLoading } = useAdminQuery(["servers", "names"], () => readAllPages(admin.listServers));
  return useMemo(() => {
    const servers = value ?? [];
    const names = new Map(servers.map(({ server_id: id, name }) => [id, name]));
    return { servers, nameOf: (id) => (id === null ? undefined : names.get(id)), isLoading };
  }, [value, isLoading]);
}

/** Finds the label of a key; undefined when it is not loaded. */
export function useKeyLabels(): (keyId: string) => string | undefined {
  const admin = useAdmin();
  const { value } = useAdminQuery(["keys", "labels"], () => readAllPages(admin.listKeys));
  return useMemo(() => {
    const labels = new Map(value?.map(({ key_id: id, label }) => [id, label]));
    return (id) => labels.get(id);
  }, [value]);
}

/** Reads the pages of a list, up to a maximum. */
export async function readAllPages<T>(
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
