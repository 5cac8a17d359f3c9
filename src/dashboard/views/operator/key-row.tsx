// One key in the list of keys, with buttons for everything that can be done with it.
import { ActionIcon, Badge, Button, Group, Menu, Paper, Stack, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { KeyState } from "../../../core/key-state.ts";
import { SECTIONS } from "../../../core/sections.ts";
import type { KeyResource } from "../../../core/wire/key.ts";
import { markInvisible } from "../../parts/game-text.tsx";
import { Icon } from "../../parts/icon.tsx";
import { NameText } from "../../parts/name-text.tsx";
import { useFormat } from "../../state/use-format.ts";

const STATE_COLOURS: Readonly<Record<KeyState, string>> = {
  active: "teal",
  suspended: "orange",
  blocked: "orange",
  expired: "gray",
  revoked: "red",
};

export function KeyRow(props: {
  readonly apiKey: KeyResource;
  readonly serverName: string;
  readonly onDetails: () => void;
  readonly onEdit: () => void;
  readonly onSuspend: () => void;
  readonly onResume: () => void;
  readonly onRotate: () => void;
  readonly onRevoke: () => void;
}) {
  const { t } = useTranslation("operatorKeys");
  const { apiKey } = props;
  const label = markInvisible(apiKey.label);
  const { state } = apiKey;
  const times = useTimesText(apiKey, state);
  const rights = useRightsText(apiKey);
  return (
    <Paper component="li" withBorder p="sm" data-state={state}>
      <Group justify="space-between" gap="xs">
        <Stack gap={2} flex="1 1 16rem" miw={0}>
          <Group gap="xs">
            <Text fw={650} miw={0}>
              <NameText text={apiKey.label} />
            </Text>
            <Badge color={STATE_COLOURS[state]} variant="light" tt="none">
              {t(`state.${state}`)}
            </Badge>
          </Group>
          <Text size="sm" className="untrusted">
            <NameText text={props.serverName} /> · {rights}
          </Text>
          <Text size="sm" c="dimmed" className="numbers">
            {times}
          </Text>
        </Stack>
        <Group gap="xs">
          <Button
            size="xs"
            variant="light"
            onClick={props.onDetails}
            aria-label={t("detailsName", { label })}
          >
            {t("details")}
          </Button>
          {state !== "revoked" && (
            <>
              <Button size="xs" variant="light" onClick={props.onEdit} aria-label={t("editName", { label })}>
                {t("edit")}
              </Button>
              <Menu position="bottom-end" withInitialFocusPlaceholder={false}>
                <Menu.Target>
                  <ActionIcon aria-label={t("more", { label })}>
                    <Icon name="more" />
                  </ActionIcon>
                </Menu.Target>
                <Menu.Dropdown>
                  {apiKey.suspended ? (
                    <Menu.Item onClick={props.onResume}>{t("resume")}</Menu.Item>
                  ) : (
                    <Menu.Item onClick={props.onSuspend}>{t("suspend")}</Menu.Item>
                  )}
                  <Menu.Item onClick={props.onRotate}>{t("rotate")}</Menu.Item>
                  <Menu.Item onClick={props.onRevoke} c="var(--mantine-color-error)">
                    {t("revoke")}
                  </Menu.Item>
                </Menu.Dropdown>
              </Menu>
            </>
          )}
        </Group>
      </Group>
    </Paper>
  );
}

function useTimesText(key: KeyResource, state: KeyState): string {
  const { t } = useTranslation("operatorKeys");
  const format = useFormat();
  const parts = [
    key.last_used_at === null ? t("neverUsed") : t("lastUsed", { time: format.dateTime(key.last_used_at) }),
    t("createdAt", { time: format.dateTime(key.created_at) }),
  ];
  if (key.revoked_at !== null) parts.push(t("revokedAt", { time: format.dateTime(key.revoked_at) }));
  else if (key.expires_at !== null) {
    const time = format.dateTime(key.expires_at);
    parts.push(t(state === "expired" ? "expired" : "expires", { time }));
  }
  return parts.join(" · ");
}

function useRightsText({ versions, sections, commands, ip_allow: addresses }: KeyResource): string {
  const { t } = useTranslation("operatorKeys");
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
