// The operator's view "servers": the list of them, and what can be done with one.
import { Alert, Anchor, Button, Group, List, Paper, Stack, Text, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import type { ServerResource } from "../../../../core/wire/server.ts";
import { readAllPages } from "../../../api/request.ts";
import { Dialog, useDialog } from "../../../parts/dialog.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { CopyButton, isTypeable, markInvisible, NamedSentence, NameText } from "../../../parts/text/game-text.tsx";
import { ViewPage } from "../../../parts/view-page.tsx";
import { hrefOf, serverBase } from "../../../state/route.ts";
import { useAdmin, useAdminQuery, useAdminRights, usePagedList } from "../../../state/session/use-admin.ts";
import { useFormat } from "../../../state/time/use-format.ts";
import { AlertsForm } from "../alerts/alerts-form.tsx";
import { FormError, FormFrame, useApiForm } from "../form.tsx";
import { Hint, SmallButton, SuccessMessage } from "../layout.tsx";
import { ListFrame } from "../list-frame.tsx";
import { MapImageForm } from "./map-image-form.tsx";
import { needsAttention, ServerFacts, StateBadge } from "./server-facts.tsx";
import { ServerForm } from "./server-form.tsx";

const POLL_INTERVAL_MS = 5_000;
/** All pages of the list are read for it. */
const ATTENTION_INTERVAL_MS = 30_000;
const ATTENTION_MAX = 10;
/** More keys or commands are not counted before a server is deleted. */
const COUNT_MAX = 200;

export function ServersView() {
  const { t } = useTranslation("operatorServers");
  const admin = useAdmin();
  const { isOperator } = useAdminRights();
  const list = usePagedList(["servers", "list"], admin.listServers, POLL_INTERVAL_MS);
  const adding = useDialog<true>();
  const editing = useDialog<ServerResource>();
  const mapping = useDialog<ServerResource>();
  const alerting = useDialog<ServerResource>();
  const deleting = useDialog<ServerResource>();
  const [done, setDone] = useState<ReactNode>();
  function finish(
    dialog: { readonly close: () => void },
    serverName: string,
    text: "created" | "saved" | "map.imageSet" | "map.imageRemoved" | "alerts.saved" | "deleted",
    counts = { keys: 0, commands: 0 },
  ) {
    dialog.close();
    setDone(<NamedSentence names={[serverName]} write={(name) => t(text, { name, ...counts })} />);
  }
  return (
    <ViewPage
      title={t("title")}
      actions={
        isOperator && (
          <Button leftSection={<Icon name="plus" size={16} />} onClick={() => adding.open(true)}>
            {t("add")}
          </Button>
        )
      }
    >
      <SuccessMessage text={done} onClose={() => setDone(undefined)} />
      {list.hasMore && <AttentionAlert />}
      <ListFrame list={list} label={t("title")} empty={{ title: t("empty"), text: t("emptyText") }}>
        {(server) => (
          <ServerRow
            key={server.server_id}
            server={server}
            onEdit={() => editing.open(server)}
            onMap={() => mapping.open(server)}
            onAlerts={() => alerting.open(server)}
            onDelete={() => deleting.open(server)}
          />
        )}
      </ListFrame>
      <Dialog state={adding} title={t("add")}>
        {() => <ServerForm onCancel={adding.close} onDone={({ name }) => finish(adding, name, "created")} />}
      </Dialog>
      <Dialog state={editing} title={t("editTitle")}>
        {(server) => (
          <ServerForm server={server} onCancel={editing.close} onDone={({ name }) => finish(editing, name, "saved")} />
        )}
      </Dialog>
      <Dialog state={mapping} title={t("map.title")} isLarge>
        {(server) => (
          <MapImageForm
            server={server}
            onCancel={mapping.close}
            onDone={(what) => finish(mapping, server.name, `map.${what}`)}
          />
        )}
      </Dialog>
      <Dialog state={alerting} title={t("alerts.title")} isLarge>
        {(server) => (
          <AlertsForm
            server={server}
            onCancel={alerting.close}
            onDone={() => finish(alerting, server.name, "alerts.saved")}
          />
        )}
      </Dialog>
      <Dialog state={deleting} title={t("deleteTitle")}>
        {(server) => (
          <DeleteServerForm
            server={server}
            onCancel={deleting.close}
            onDone={(keys, commands) => finish(deleting, server.name, "deleted", { keys, commands })}
          />
        )}
      </Dialog>
    </ViewPage>
  );
}

/** The servers that need attention, for when they may be on a page of the list that is not loaded. */
function AttentionAlert() {
  const { t } = useTranslation("operatorServers");
  const admin = useAdmin();
  const { value = [] } = useAdminQuery(
    ["servers", "attention"],
    () => readAllPages(admin.listServers),
    ATTENTION_INTERVAL_MS,
  );
  const found = value.filter(needsAttention);
  if (found.length === 0) return null;
  return (
    <Alert color="orange" icon={<Icon name="warning" />} title={t("attention", { count: found.length })}>
      <List listStyleType="none" size="sm" spacing={4}>
        {found.slice(0, ATTENTION_MAX).map((server) => (
          <List.Item key={server.server_id}>
            <Group gap="xs">
              <Anchor href={hrefOf(`${serverBase(server.server_id)}live`)} size="sm">
                <NameText text={server.name} />
              </Anchor>
              <StateBadge server={server} />
            </Group>
          </List.Item>
        ))}
      </List>
      {found.length > ATTENTION_MAX && t("attentionMore", { n: found.length - ATTENTION_MAX })}
    </Alert>
  );
}

function ServerRow(props: {
  readonly server: ServerResource;
  readonly onEdit: () => void;
  readonly onMap: () => void;
  readonly onAlerts: () => void;
  readonly onDelete: () => void;
}) {
  const { t } = useTranslation(["operatorServers", "operator"]);
  const format = useFormat();
  const { server } = props;
  const { isOperator, may } = useAdminRights();
  const mayStatus = may("status", server.server_id);
  const name = markInvisible(server.name);
  const live = hrefOf(`${serverBase(server.server_id)}live`);
  return (
    <Paper component="li" withBorder p="sm">
      <Group justify="space-between" gap="xs">
        <Stack gap={2} flex="1 1 16rem" miw={0}>
          <Text fw={650}>
            <NameText text={server.name} />
          </Text>
          <ServerFacts server={server} />
          <Text size="sm" c="dimmed" className="untrusted">
            {server.community === null ? t("noCommunity") : `${t("operator:fields.community")}: ${server.community}`}
            {" · "}
            {t("addedAt", { time: format.dateTime(server.created_at) })}
          </Text>
          {server.public_status && (
            <Anchor href={`/status/${server.public_status.slug}`} target="_blank" rel="noopener" size="sm">
              {t("publicAt", { path: `/status/${server.public_status.slug}` })}
            </Anchor>
          )}
          <Group gap={4}>
            <Hint ff="monospace">{server.server_id}</Hint>
            <CopyButton value={server.server_id} label={server.server_id} />
          </Group>
        </Stack>
        <Group gap="xs">
          <SmallButton text={t("open")} name={t("openName", { name })} href={live} />
          {mayStatus && (
            <>
              <SmallButton text={t("operator:edit")} name={t("editName", { name })} onClick={props.onEdit} />
              <SmallButton text={t("map.open")} name={t("map.openName", { name })} onClick={props.onMap} />
            </>
          )}
          {may("alerts", server.server_id) && (
            <SmallButton text={t("alerts.title")} name={t("alerts.openName", { name })} onClick={props.onAlerts} />
          )}
          {isOperator && (
            <SmallButton text={t("delete")} name={t("deleteName", { name })} onClick={props.onDelete} color="red" />
          )}
        </Group>
      </Group>
    </Paper>
  );
}

function DeleteServerForm(props: {
  readonly server: ServerResource;
  readonly onCancel: () => void;
  readonly onDone: (revokedKeys: number, failedCommands: number) => void;
}) {
  const { t } = useTranslation("operatorServers");
  const admin = useAdmin();
  const { server } = props;
  const query = { server_id: server.server_id, limit: COUNT_MAX };
  const keys = useAdminQuery(["keys", "count", server.server_id], () => admin.listKeys(query));
  const waiting = useAdminQuery(["commands", "count", server.server_id], () =>
    admin.listCommands({ ...query, status: "queued" }),
  );
  const confirmation = isTypeable(server.name) ? server.name : server.server_id;
  const form = useApiForm("operatorServers", {
    start: { typed: "" },
    toBody: () => query,
    change: () => admin.deleteServer(server.server_id),
    invalidates: ["servers", "keys", "commands", "blocks"],
    onDone: ({ revoked_keys: revoked, failed_commands: failed }) => props.onDone(revoked, failed),
  });
  const keyCount = keys.value?.items.filter(({ revoked_at: at }) => at === null).length ?? 0;
  const commandCount = waiting.value?.items.length ?? 0;
  return (
    <FormFrame
      form={form}
      label={t("delete")}
      isDangerous
      isDisabled={form.values.typed.trim() !== confirmation.trim()}
      onCancel={props.onCancel}
    >
      <Text>
        <NamedSentence names={[server.name]} write={(name) => t("deleteText", { name })} />
      </Text>
      <Text fw={600} role="status">
        {keys.isLoading
          ? t("counting")
          : keys.value?.next
            ? t("keysGoMore", { n: keyCount })
            : t("keysGo", { count: keyCount })}{" "}
        {commandCount > 0 && t("commandsFail", { count: commandCount })}
      </Text>
      <FormError error={keys.error} />
      <TextInput
        {...form.field("typed")}
        label={t(confirmation === server.server_id ? "typeId" : "typeName")}
        description={confirmation}
        autoComplete="off"
        spellCheck={false}
        data-autofocus
      />
    </FormFrame>
  );
}
