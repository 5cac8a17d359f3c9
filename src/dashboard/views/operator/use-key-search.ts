// The search for keys: Gatehouse searches by label, server and state; a whole id finds one key.
import { useDebouncedValue } from "@mantine/hooks";
import { useEffect } from "react";
import { ERRORS } from "../../../core/errors.ts";
import type { KeyState } from "../../../core/key-state.ts";
import type { KeyResource } from "../../../core/wire/key.ts";
import type { PageOf } from "../../../core/wire/page.ts";
import type { AdminApi } from "../../api/admin.ts";
import type { Outcome } from "../../api/request.ts";
import { type PagedList, useAdmin, usePagedList } from "../../state/use-admin.ts";

export type KeySearch = {
  /** A part of the label, or the id of a key. */
  readonly text: string;
  /** Empty for all servers. */
  readonly serverId: string;
  /** Empty for every state but revoked. */
  readonly state: KeyState | "";
};

const POLL_INTERVAL_MS = 15_000;
/** Typing that is faster than this causes no request for each letter. */
const TYPING_MS = 250;
const KEY_ID = /^key_\w+$/;
/** Pages without any key to show are followed by the next one, up to so many pages. */
const EMPTY_PAGES_MAX = 40;

/** Whether somebody has pasted a token or a façade key. It is not searched for, so that it never becomes a part of an address. */
export function isToken(text: string): boolean {
  return /^gth(?:_|[0-9A-Za-z]{36}-)/.test(text.trim());
}

export function useKeySearch(search: KeySearch): PagedList<KeyResource> {
  const admin = useAdmin();
  const { serverId, state } = search;
  const [typed] = useDebouncedValue(search.text, TYPING_MS);
  const text = isToken(typed) ? "" : typed.trim();
  const list = usePagedList(
    ["keys", "list", serverId, state, text],
    (query) => {
      if (KEY_ID.test(text)) return findKey(admin, text);
      return admin.listKeys({
        ...query,
        ...(serverId !== "" && { server_id: serverId }),
        ...(text !== "" && { label: text }),
        ...(state !== "" && { state }),
      });
    },
    POLL_INTERVAL_MS,
    // While somebody types, the keys that still match stay where they are, with their open menus.
    ([, , earlierServerId, earlierState]) => earlierServerId === serverId && earlierState === state,
  );
  const items = state === "" && !KEY_ID.test(text) ? list.items.filter(isNotRevoked) : list.items;
  const { hasMore, isLoadingMore, loadMore, pageCount } = list;
  const isEmptyPage = items.length === 0 && hasMore && !isLoadingMore && pageCount < EMPTY_PAGES_MAX;
  useEffect(() => {
    if (isEmptyPage) loadMore();
  }, [isEmptyPage, loadMore]);
  return { ...list, items };
}

function isNotRevoked({ state }: KeyResource): boolean {
  return state !== "revoked";
}

async function findKey(admin: AdminApi, keyId: string): Promise<Outcome<PageOf<KeyResource>>> {
  const outcome = await admin.showKey(keyId);
  if (outcome.ok) return { ...outcome, value: { items: [outcome.value], next: null } };
  if (outcome.error.code !== ERRORS.notFound.code) return outcome;
  const { receivedAt, limit } = outcome;
  return { ok: true, status: 200, value: { items: [], next: null }, etag: null, ageMs: 0, receivedAt, limit };
}
