// The list of keys: its columns, with buttons for everything that can be done with a key, and the search. Gatehouse searches
// by label, server and state; a whole id finds one key.
import { Anchor, Badge, Group, Menu } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import type { TFunction } from "i18next";
import { useEffect, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { ERRORS } from "../../../../core/errors.ts";
import type { KeyState } from "../../../../core/keys/key-state.ts";
import { SECTIONS } from "../../../../core/sections.ts";
import type { KeyResource } from "../../../../core/wire/key.ts";
import type { PageOf } from "../../../../core/wire/page.ts";
import type { AdminApi } from "../../../api/admin.ts";
import type { Outcome } from "../../../api/request.ts";
import type { ShownColumn } from "../../../parts/table/table-columns.ts";
import { markInvisible, NameText, writeAsShown } from "../../../parts/text/game-text.tsx";
import { type PagedList, useAdmin, usePagedList } from "../../../state/session/use-admin.ts";
import { MoreMenu, SmallButton, widthOfButtons } from "../layout.tsx";
import { makeButtons, makeColumn } from "../list-frame.tsx";

const STATE_COLOURS: Readonly<Record<KeyState, string>> = {
  active: "teal",
  suspended: "orange",
  blocked: "orange",
  expired: "gray",
  revoked: "red",
};

/** v1 is switched off, so it makes no difference. */
const USUAL_VERSIONS = ["v2", "v1,v2", "v2,v1"];
const HIDDEN = { width: "12rem", phone: "tap", isHiddenAtFirst: true } as const;

export type KeyActions = {
  readonly [Name in "onDetails" | "onEdit" | "onSuspend" | "onRotate" | "onRevoke"]: (key: KeyResource) => void;
} & { readonly onResume: (keyId: string) => void };

/** `actions` must stay the same object, or every row is rendered again. */
export function useKeyColumns(
  serverOf: (serverId: string) => string | undefined,
  actions: KeyActions,
): readonly ShownColumn<KeyResource>[] {
  const { t } = useTranslation(["operatorKeys", "operator", "operatorPeople", "table"]);
  return useMemo(
    () => [
      {
        id: "label",
        title: t("operator:fields.label"),
        readValue: ({ label }) => label,
        cell: (key) => (
          <Anchor
            component="button"
            type="button"
            size="sm"
            fw={600}
            aria-label={t("detailsName", { label: writeAsShown(key.label) })}
            onClick={() => actions.onDetails(key)}
          >
            <NameText text={key.label} />
          </Anchor>
        ),
      },
      {
        id: "state",
        title: t("operator:fields.status"),
        readValue: ({ state }) => t(`state.${state}`),
        cell: ({ state }) => <Badge color={STATE_COLOURS[state]}>{t(`state.${state}`)}</Badge>,
        width: "8rem",
        phone: "side",
      },
      makeColumn("server", t("operator:fields.server_id"), "name", ({ server_id: id }) => serverOf(id) ?? id, {
        width: "18%",
        phone: "line",
      }),
      makeColumn("rights", t("right.title"), "cut", (key) => describeRights(key, t), { phone: "line" }),
      makeColumn("used", t("column.used"), "ago", ({ last_used_at: at }) => at ?? undefined, {
        width: "7.5rem",
        phone: "side",
        nothing: t("neverUsed"),
      }),
      makeColumn("created", t("operator:created"), "date", ({ created_at: at }) => at, HIDDEN),
      // When it was revoked, or when it expires.
      makeColumn("ends", t("column.ends"), "date", (key) => key.revoked_at ?? key.expires_at ?? undefined, HIDDEN),
      makeButtons(t("table:buttons"), widthOfButtons(t("operator:edit")), (key) => (
        <KeyButtons apiKey={key} actions={actions} />
      )),
    ],
    [t, serverOf, actions],
  );
}

function KeyButtons({ apiKey, actions }: { readonly apiKey: KeyResource; readonly actions: KeyActions }) {
  const { t } = useTranslation(["operatorKeys", "operator"]);
  const label = markInvisible(apiKey.label);
  if (apiKey.state === "revoked") return null;
  return (
    <Group gap={4} wrap="nowrap">
      <SmallButton
        size="compact-sm"
        text={t("operator:edit")}
        name={t("editName", { label })}
        onClick={() => actions.onEdit(apiKey)}
      />
      <MoreMenu name={t("more", { label })}>
        {apiKey.suspended ? (
          <Menu.Item onClick={() => actions.onResume(apiKey.key_id)}>{t("resume")}</Menu.Item>
        ) : (
          <Menu.Item onClick={() => actions.onSuspend(apiKey)}>{t("suspend")}</Menu.Item>
        )}
        <Menu.Item onClick={() => actions.onRotate(apiKey)}>{t("rotate")}</Menu.Item>
        <Menu.Item onClick={() => actions.onRevoke(apiKey)} c="var(--mantine-color-error)">
          {t("revoke")}
        </Menu.Item>
      </MoreMenu>
    </Group>
  );
}

export function keyOfKey({ key_id: id }: KeyResource): string {
  return id;
}

export function attributesOfKey({ state }: KeyResource) {
  return { "data-state": state };
}

function describeRights(
  { versions, sections, commands, hide, may, ip_allow: addresses }: KeyResource,
  t: TFunction<["operatorKeys", "operator", "operatorPeople", "table"]>,
): string {
  const parts = [
    ...(versions.length === 0 ? [t("may.noVersion")] : USUAL_VERSIONS.includes(versions.join()) ? [] : versions),
    sections.length === SECTIONS.length
      ? t("may.allSections")
      : sections.length === 0
        ? t("may.noSections")
        : t("may.someSections", { n: sections.length, all: SECTIONS.length }),
    commands.includes("*")
      ? t("may.allCommands")
      : commands.length === 0
        ? t("may.noCommands")
        : t("may.someCommands", { count: commands.length }),
  ];
  parts.push(...may.map((name) => t(`operatorPeople:ability.${name}`)));
  if (hide.length > 0)
    parts.push(t("may.without", { fields: hide.map((name) => t(`operatorPeople:hidden.${name}`)).join(", ") }));
  if (addresses.length > 0) parts.push(t("may.addresses", { count: addresses.length }));
  return parts.join(" · ");
}

type KeySearch = {
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

/** Whether somebody has pasted a token or a façade key. It is not searched for, so that no address contains it. */
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
