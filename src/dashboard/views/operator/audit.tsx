// The operator's view "audit": who changed what, with the values before and after.
import { ActionIcon, Anchor, Badge, Group, Paper, Stack, Table, Text, Tooltip } from "@mantine/core";
import { Fragment } from "react";
import { useTranslation } from "react-i18next";
import { SECTIONS } from "../../../core/sections.ts";
import { WEBHOOK_FORMATS, WEBHOOK_LANGUAGES } from "../../../core/webhooks/webhook.ts";
import type { AuditEntryResource } from "../../../core/wire/audit.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { NameText } from "../../parts/name-text.tsx";
import { TableFrame } from "../../parts/table-frame.tsx";
import { ViewPage } from "../../parts/view-page.tsx";
import { hrefOf } from "../../state/route.ts";
import { useAdmin, usePagedList } from "../../state/use-admin.ts";
import { useFormat } from "../../state/use-format.ts";
import { ListFrame } from "./list-frame.tsx";
import { useKeyLabels, useServerNames } from "./names.ts";
import { useProblemWords, useTypeNames } from "./webhook-words.ts";

const ACTION_COLOURS = {
  "server.created": "teal",
  "server.changed": "blue",
  "server.deleted": "red",
  "key.created": "teal",
  "key.changed": "blue",
  "key.rotated": "blue",
  "key.revoked": "red",
  "block.lifted": "orange",
  "command.cancelled": "orange",
  "player.forgotten": "red",
  "upstream.resumed": "orange",
  "device.signed_in": "teal",
  "device.signed_out": "gray",
  "device.ended": "orange",
  "link.created": "blue",
  "server.map_image_set": "blue",
  "server.map_image_removed": "red",
  "server.alerts_set": "blue",
  "webhook.created": "teal",
  "webhook.changed": "blue",
  "webhook.rotated": "blue",
  "webhook.redelivered": "blue",
  "webhook.disabled": "orange",
  "webhook.deleted": "red",
} as const;

const FIELDS = [
  "name",
  "community",
  "server_key",
  "server_id",
  "label",
  "versions",
  "sections",
  "commands",
  "ip_allow",
  "expires_at",
  "suspended",
  "revoked_at",
  "old_token_valid_until",
  "blocked_until",
  "status",
  "watch",
  "public_status",
  "simulated",
  "paused_until",
  "pause_reason",
  "device_id",
  "description",
  "created_at",
  "signed_in_by",
  "left",
  "top",
  "right",
  "bottom",
  "type",
  "bytes",
  "url",
  "format",
  "types",
  "language",
  "show_join_key",
  "enabled",
  "disabled_reason",
  "old_secret_valid_until",
  "after",
] as const;

/** The characters of a value that are shown at once; a button shows the rest. */
const VALUE_MAX = 1_000;

/** The fields where nothing means something: a key without addresses may be used from anywhere. */
const ABSENT_FIELDS = [
  "ip_allow",
  "expires_at",
  "revoked_at",
  "old_token_valid_until",
  "blocked_until",
  "server_key",
  "public_status",
  "paused_until",
  "types",
] as const;

const TIME_FIELDS: ReadonlySet<string> = new Set([
  "expires_at",
  "revoked_at",
  "old_token_valid_until",
  "blocked_until",
  "paused_until",
  "created_at",
  "old_secret_valid_until",
]);

export function AuditView() {
  const { t } = useTranslation("operatorAudit");
  const admin = useAdmin();
  const list = usePagedList(["audit"], admin.listAudit);
  const { nameOf } = useServerNames();
  const labelOf = useKeyLabels();
  return (
    <ViewPage
      title={t("title")}
      summary={t("summary")}
      actions={
        <Tooltip label={t("refresh")}>
          <ActionIcon aria-label={t("refresh")} onClick={list.refresh}>
            <Icon name="refresh" size={18} />
          </ActionIcon>
        </Tooltip>
      }
    >
      <ListFrame list={list} label={t("list")} empty={{ title: t("empty") }}>
        {(entry) => (
          <EntryRow
            key={entry.id}
            entry={entry}
            name={nameOf(entry.target) ?? labelOf(entry.target)}
            nameOf={nameOf}
          />
        )}
      </ListFrame>
    </ViewPage>
  );
}

function EntryRow(props: {
  readonly entry: AuditEntryResource;
  /** The name of the changed server or key, if it still exists. */
  readonly name: string | undefined;
  readonly nameOf: (serverId: string) => string | undefined;
}) {
  const { t } = useTranslation("operatorAudit");
  const format = useFormat();
  const { entry } = props;
  const action = (Object.keys(ACTION_COLOURS) as (keyof typeof ACTION_COLOURS)[]).find(
    (known) => known === entry.action,
  );
  const describeActor = ({ fingerprint, address }: AuditEntryResource["actor"]) => {
    if (fingerprint === "gatehouse") return t("byGatehouse");
    return fingerprint.startsWith("key_")
      ? t("byKey", { key: fingerprint, address })
      : t("by", { fingerprint, address });
  };
  const before = toRecord(entry.details.before);
  const after = toRecord(entry.details.after);
  return (
    <Paper component="li" withBorder p="sm">
      <Stack gap={6}>
        <Group gap="xs" justify="space-between">
          <Group gap="xs" miw={0}>
            <Badge color={action ? ACTION_COLOURS[action] : "gray"} variant="light" tt="none" size="lg">
              {action ? t(`action.${action}`) : entry.action}
            </Badge>
            {props.name !== undefined && (
              <Text fw={650} miw={0}>
                <NameText text={props.name} />
              </Text>
            )}
          </Group>
          <Text size="sm" c="dimmed" className="numbers">
            {format.dateTime(entry.at)}
          </Text>
        </Group>
        <Group gap={4}>
          {entry.target.startsWith("hook_") ? (
            <Anchor href={hrefOf(`webhooks/${entry.target}`)} size="sm" className="untrusted">
              {entry.target}
            </Anchor>
          ) : (
            <Text size="sm" c="dimmed" className="untrusted">
              {entry.target}
            </Text>
          )}
          <CopyButton value={entry.target} label={entry.target} />
          <Text size="sm" c="dimmed" className="untrusted">
            {describeActor(entry.actor)}
          </Text>
        </Group>
        <Changes before={before} after={after} nameOf={props.nameOf} />
      </Stack>
    </Paper>
  );
}

type Fields = Readonly<Record<string, unknown>>;

type ChangesProps = {
  readonly before: Fields;
  readonly after: Fields;
  readonly nameOf: (serverId: string) => string | undefined;
};

/** What there was before, with what became of it, in a table. What is only stated is a plain list. */
function Changes({ before, after, nameOf }: ChangesProps) {
  const hasBoth = Object.keys(before).length > 0 && Object.keys(after).length > 0;
  const changed = hasBoth ? Object.keys(before) : [];
  const stated = Object.entries({ ...before, ...after }).filter(([field]) => !changed.includes(field));
  return (
    <>
      {changed.length > 0 && <ChangeTable fields={changed} before={before} after={after} nameOf={nameOf} />}
      {stated.length > 0 && (
        <dl className="facts">
          {stated.map(([field, value]) => (
            <Fragment key={field}>
              <dt>
                <FieldName field={field} />
              </dt>
              <dd className="untrusted">
                <Value field={field} value={value} nameOf={nameOf} />
              </dd>
            </Fragment>
          ))}
        </dl>
      )}
    </>
  );
}

function ChangeTable(props: ChangesProps & { readonly fields: readonly string[] }) {
  const { t } = useTranslation("operatorAudit");
  const { fields, before, after, nameOf } = props;
  return (
    <TableFrame label={t("list")}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t("field")}</Table.Th>
            <Table.Th>{t("before")}</Table.Th>
            <Table.Th>{t("after")}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {fields.map((field) => (
            <Table.Tr key={field}>
              <Table.Th scope="row">
                <FieldName field={field} />
              </Table.Th>
              <Table.Td>
                <Value field={field} value={before[field]} nameOf={nameOf} />
              </Table.Td>
              <Table.Td>
                <Value field={field} value={after[field]} nameOf={nameOf} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </TableFrame>
  );
}

function FieldName({ field }: { readonly field: string }) {
  const { t } = useTranslation("operatorAudit");
  const known = FIELDS.find((other) => other === field);
  return known ? t(`fields.${known}`) : field;
}

function Value(props: {
  readonly field: string;
  readonly value: unknown;
  readonly nameOf: (serverId: string) => string | undefined;
}) {
  const { t } = useTranslation(["operatorAudit", "operatorWebhooks", "status"]);
  const format = useFormat();
  const { nameTypes } = useTypeNames();
  const { describeReason } = useProblemWords();
  const { field, value } = props;
  const absent = ABSENT_FIELDS.find((name) => name === field);
  const nothing = absent ? t(`absent.${absent}`) : t("nothing");
  if (value === undefined || value === null) return nothing;
  if (typeof value === "boolean") return t(value ? "yes" : "no");
  if (typeof value === "number")
    return TIME_FIELDS.has(field) ? format.dateTime(value) : format.number(value);
  if (Array.isArray(value)) {
    if (value.length === 0) return nothing;
    if (field === "sections" && value.length === SECTIONS.length) return t("everything");
    if (field === "commands" && value.includes("*")) return t("everything");
    if (field === "types") return nameTypes(value.map(String));
    const entries = value.map((entry) =>
      translateSection(String(entry), (name) => t(`status:sections.${name}`)),
    );
    return <NameText text={entries.join(", ")} max={VALUE_MAX} />;
  }
  // The key itself is never told.
  if (field === "server_key") return t("setAnew");
  if (typeof value !== "string") return <NameText text={JSON.stringify(value)} max={VALUE_MAX} />;
  if (field === "disabled_reason") return <NameText text={describeReason(value)} max={VALUE_MAX} />;
  const webhookFormat = field === "format" && WEBHOOK_FORMATS.find((name) => name === value);
  if (webhookFormat) return t(`operatorWebhooks:format.${webhookFormat}`);
  const language = field === "language" && WEBHOOK_LANGUAGES.find((name) => name === value);
  if (language) return t(`operatorWebhooks:language.${language}`);
  return <NameText text={(field === "server_id" && props.nameOf(value)) || value} max={VALUE_MAX} />;
}

function translateSection(entry: string, translate: (name: (typeof SECTIONS)[number]) => string): string {
  const section = SECTIONS.find((name) => name === entry);
  return section ? translate(section) : entry;
}

function toRecord(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
