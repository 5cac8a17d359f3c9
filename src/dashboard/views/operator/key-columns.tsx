// The columns of the list of keys, with buttons for everything that can be done with a key.
import { ActionIcon, Badge, Button, Group, Menu, Text } from "@mantine/core";
import type { TFunction } from "i18next";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { KeyState } from "../../../core/key-state.ts";
import { SECTIONS } from "../../../core/sections.ts";
import type { KeyResource } from "../../../core/wire/key.ts";
import { Ago } from "../../parts/ago.tsx";
import { markInvisible } from "../../parts/game-text.tsx";
import { Icon } from "../../parts/icon.tsx";
import { NameText } from "../../parts/name-text.tsx";
import type { ShownColumn } from "../../parts/table-columns.ts";
import { useFormat } from "../../state/use-format.ts";

const STATE_COLOURS: Readonly<Record<KeyState, string>> = {
  active: "teal",
  suspended: "orange",
  blocked: "orange",
  expired: "gray",
  revoked: "red",
};

export type KeyActions = {
  readonly [Name in "onDetails" | "onEdit" | "onSuspend" | "onRotate" | "onRevoke"]: (
    key: KeyResource,
  ) => void;
} & { readonly onResume: (keyId: string) => void };

/** `actions` must stay the same object, or every row is rendered again. */
export function useKeyColumns(
  serverOf: (serverId: string) => string | undefined,
  actions: KeyActions,
): readonly ShownColumn<KeyResource>[] {
  const { t } = useTranslation(["operatorKeys", "table"]);
  const format = useFormat();
  return useMemo(
    () => [
      {
        id: "label",
        title: t("form.label"),
        readValue: ({ label }) => label,
        cell: ({ label }) => (
          <Text component="span" size="sm" fw={600}>
            <NameText text={label} />
          </Text>
        ),
      },
      {
        id: "state",
        title: t("stateFilter"),
        readValue: ({ state }) => t(`state.${state}`),
        cell: ({ state }) => (
          <Badge color={STATE_COLOURS[state]} variant="light" tt="none">
            {t(`state.${state}`)}
          </Badge>
        ),
        width: "8.5rem",
        phone: "side",
      },
      {
        id: "server",
        title: t("server"),
        readValue: ({ server_id: id }) => serverOf(id) ?? id,
        cell: ({ server_id: id }) => <NameText text={serverOf(id) ?? id} />,
        width: "14%",
        phone: "line",
      },
      {
        id: "rights",
        title: t("right.title"),
        readValue: (key) => describeRights(key, t),
        cell: (key) => <span className="cut-text">{describeRights(key, t)}</span>,
        phone: "line",
      },
      {
        id: "used",
        title: t("column.used"),
        readValue: ({ last_used_at: at }) => at ?? undefined,
        cell: ({ last_used_at: at }) =>
          at === null ? <span className="no-value">{t("neverUsed")}</span> : <Ago at={at} />,
        width: "8.5rem",
        phone: "side",
      },
      {
        id: "created",
        title: t("column.created"),
        readValue: ({ created_at: at }) => at,
        cell: ({ created_at: at }) => <span className="numbers">{format.dateTime(at)}</span>,
        width: "12rem",
        phone: "tap",
        isHiddenAtFirst: true,
      },
      {
        id: "ends",
        title: t("column.ends"),
        readValue: (key) => endOf(key) ?? undefined,
        cell: (key) => {
          const at = endOf(key);
          return at === null ? undefined : <span className="numbers">{format.dateTime(at)}</span>;
        },
        width: "12rem",
        phone: "tap",
        isHiddenAtFirst: true,
      },
      {
        id: "buttons",
        title: t("table:buttons"),
        readValue: () => undefined,
        cell: (key) => <KeyButtons apiKey={key} actions={actions} />,
        width: "17rem",
        isButtons: true,
      },
    ],
    [t, format, serverOf, actions],
  );
}

/** When it was revoked, or when it expires. */
function endOf({ revoked_at: revokedAt, expires_at: expiresAt }: KeyResource): number | null {
  return revokedAt ?? expiresAt;
}

function KeyButtons({ apiKey, actions }: { readonly apiKey: KeyResource; readonly actions: KeyActions }) {
  const { t } = useTranslation("operatorKeys");
  const label = markInvisible(apiKey.label);
  return (
    <Group gap={4} wrap="nowrap">
      <Button
        size="compact-sm"
        variant="light"
        onClick={() => actions.onDetails(apiKey)}
        aria-label={t("detailsName", { label })}
      >
        {t("details")}
      </Button>
      {apiKey.state !== "revoked" && (
        <>
          <Button
            size="compact-sm"
            variant="light"
            onClick={() => actions.onEdit(apiKey)}
            aria-label={t("editName", { label })}
          >
            {t("edit")}
          </Button>
          <Menu position="bottom-end" withInitialFocusPlaceholder={false}>
            <Menu.Target>
              <ActionIcon size={26} aria-label={t("more", { label })}>
                <Icon name="more" />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              {apiKey.suspended ? (
                <Menu.Item onClick={() => actions.onResume(apiKey.key_id)}>{t("resume")}</Menu.Item>
              ) : (
                <Menu.Item onClick={() => actions.onSuspend(apiKey)}>{t("suspend")}</Menu.Item>
              )}
              <Menu.Item onClick={() => actions.onRotate(apiKey)}>{t("rotate")}</Menu.Item>
              <Menu.Item onClick={() => actions.onRevoke(apiKey)} c="var(--mantine-color-error)">
                {t("revoke")}
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        </>
      )}
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
  { versions, sections, commands, ip_allow: addresses }: KeyResource,
  t: TFunction<["operatorKeys", "table"]>,
): string {
  const parts = [
    versions.length === 0 ? t("may.noVersion") : versions.join(", "),
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
  if (addresses.length > 0) parts.push(t("may.addresses", { count: addresses.length }));
  return parts.join(" · ");
}
