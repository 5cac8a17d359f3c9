// The operator's view "servers": the list of them, and what can be done with one.
import { Alert, Anchor, Button, Group, List, Menu, Text, TextInput } from "@mantine/core";
import { type ReactNode, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { ERRORS } from "../../../../core/errors.ts";
import type { KeyResource } from "../../../../core/wire/key.ts";
import type { PageOf } from "../../../../core/wire/page.ts";
import type { ServerResource } from "../../../../core/wire/server.ts";
import { type ApiError, readAllPages } from "../../../api/request.ts";
import { Dialog, useDialog } from "../../../parts/dialog.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { type ShownColumn, valueColumn } from "../../../parts/table/table-columns.ts";
import { isTypeable, markInvisible, NamedSentence, NameText, writeAsShown } from "../../../parts/text/game-text.tsx";
import { ViewPage } from "../../../parts/view-page.tsx";
import { hrefOf, serverBase } from "../../../state/route.ts";
import { useAdmin, useAdminQuery, useAdminRights, usePagedList } from "../../../state/session/use-admin.ts";
import { useFormat } from "../../../state/time/use-format.ts";
import { AlertsForm } from "../alerts/alerts-form.tsx";
import { FormFrame, useApiForm } from "../form.tsx";
import { MoreMenu, SmallButton, SuccessMessage, widthOfButtons } from "../layout.tsx";
import { makeButtons, makeColumn, PagedTable } from "../list-frame.tsx";
import { MapImageForm } from "./map-image-form.tsx";
import { needsAttention, StateBadge, useServerNote } from "./server-facts.tsx";
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
  const actions = useMemo(
    (): ServerActions => ({
      onEdit: editing.open,
      onMap: mapping.open,
      onAlerts: alerting.open,
      onDelete: deleting.open,
    }),
    [editing.open, mapping.open, alerting.open, deleting.open],
  );
  const columns = useServerColumns(actions);
  const [done, setDone] = useState<ReactNode>();
  function finish(
    dialog: { readonly close: () => void },
    serverName: string,
    text: "created" | "saved" | "map.imageSet" | "map.imageRemoved" | "alerts.saved" | "alerts.savedAll" | "deleted",
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
      <PagedTable
        list={list}
        label={t("title")}
        name="operator-servers"
        empty={{ title: t("empty"), text: t("emptyText") }}
        columns={columns}
        keyOf={keyOfServer}
        attributesOf={attributesOfServer}
        writeCount={(count) => t("shown", { count })}
      />
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
            onDone={(isForAll) => finish(alerting, server.name, isForAll ? "alerts.savedAll" : "alerts.saved")}
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

type ServerActions = {
  readonly [Name in "onEdit" | "onMap" | "onAlerts" | "onDelete"]: (server: ServerResource) => void;
};

const HIDDEN = { width: "9rem", phone: "tap", isHiddenAtFirst: true } as const;

/** `actions` must stay the same object, or every row is rendered again. */
function useServerColumns(actions: ServerActions): readonly ShownColumn<ServerResource>[] {
  const { t } = useTranslation(["operatorServers", "operator", "table"]);
  const format = useFormat();
  const writeNote = useServerNote();
  return useMemo(
    () => [
      {
        id: "name",
        title: t("operator:fields.name"),
        readValue: ({ name }) => name,
        cell: ({ server_id: id, name }) => (
          <Anchor
            href={hrefOf(`${serverBase(id)}live`)}
            size="sm"
            fw={600}
            aria-label={t("openName", { name: writeAsShown(name) })}
          >
            <NameText text={name} />
          </Anchor>
        ),
      },
      {
        id: "state",
        title: t("operator:fields.status"),
        readValue: ({ state }) => t(`state.${state}`),
        cell: (server) => <StateBadge server={server} />,
        width: "9.5rem",
        phone: "side",
      },
      valueColumn("players", t("column.players"), {
        value: ({ players }) => players,
        show: (players) => format.number(players),
        width: "6rem",
        phone: "tap",
        isNumber: true,
      }),
      makeColumn("read", t("column.read"), "ago", ({ last_read_at: at }) => at ?? undefined, {
        width: "7.5rem",
        phone: "side",
      }),
      makeColumn("note", t("column.note"), "name", writeNote, { phone: "line" }),
      {
        id: "public",
        title: t("column.public"),
        readValue: ({ public_status: status }) => status?.slug,
        cell: ({ public_status: status }) =>
          status && (
            <Anchor href={`/status/${status.slug}`} target="_blank" rel="noopener" size="sm">
              /status/{status.slug}
            </Anchor>
          ),
        ...HIDDEN,
      },
      makeColumn("id", t("column.id"), "cut", ({ server_id: id }) => id, { ...HIDDEN, width: "14rem" }),
      makeButtons(t("table:buttons"), widthOfButtons(t("operator:edit")), (server) => (
        <ServerButtons server={server} actions={actions} />
      )),
    ],
    [t, format, writeNote, actions],
  );
}

function ServerButtons({ server, actions }: { readonly server: ServerResource; readonly actions: ServerActions }) {
  const { t } = useTranslation(["operatorServers", "operator"]);
  const { isOperator, may } = useAdminRights();
  const { server_id: id } = server;
  const [mayEdit, mayAlerts] = [may("status", id), may("alerts", id)];
  const name = markInvisible(server.name);
  if (!mayEdit && !mayAlerts) return null;
  return (
    <Group gap={4} wrap="nowrap">
      {mayEdit && (
        <SmallButton
          size="compact-sm"
          text={t("operator:edit")}
          name={t("editName", { name })}
          onClick={() => actions.onEdit(server)}
        />
      )}
      <MoreMenu name={t("more", { name })}>
        {mayAlerts && <Menu.Item onClick={() => actions.onAlerts(server)}>{t("alerts.title")}</Menu.Item>}
        {mayEdit && <Menu.Item onClick={() => actions.onMap(server)}>{t("map.open")}</Menu.Item>}
        {isOperator && (
          <Menu.Item onClick={() => actions.onDelete(server)} c="var(--mantine-color-error)">
            {t("delete")}
          </Menu.Item>
        )}
      </MoreMenu>
    </Group>
  );
}

function keyOfServer({ server_id: id }: ServerResource): string {
  return id;
}

function attributesOfServer({ state }: ServerResource) {
  return { "data-state": state };
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
  const commands = useAdminQuery(["commands", "count", server.server_id], () =>
    admin.listCommands({ ...query, status: "queued" }),
  );
  const webhooks = useAdminQuery(["webhooks", "count", server.server_id], () => admin.listWebhooks(query));
  const people = useAdminQuery(["people", "count", server.server_id], () => admin.listPeople(query));
  const confirmation = isTypeable(server.name) ? server.name : server.server_id;
  const form = useApiForm("operatorServers", {
    start: { typed: "" },
    toBody: () => query,
    change: () => admin.deleteServer(server.server_id),
    invalidates: ["servers", "keys", "commands", "blocks", "webhooks", "people", "alerts"],
    onDone: ({ revoked_keys: revoked, failed_commands: failed }) => props.onDone(revoked, failed),
  });
  const counts = {
    webhooks: countOf(webhooks),
    people: countOf(people),
    keys: countOf(keys, isNotRevoked),
    commands: countOf(commands),
  };
  function writeCount(name: keyof typeof counts): string | undefined {
    const { count, hasMore } = counts[name];
    if (count === 0) return hasMore ? t(`uncounted.${name}`) : undefined;
    return t(`goes.${hasMore && (name === "keys" || name === "people") ? (`${name}More` as const) : name}`, { count });
  }
  return (
    <FormFrame
      form={form}
      label={t("deleteAction")}
      isDangerous
      isDisabled={form.values.typed.trim() !== confirmation.trim()}
      onCancel={props.onCancel}
    >
      <Text>
        <NamedSentence names={[server.name]} write={(name) => t("deleteText", { name })} />
      </Text>
      <div role="status">
        {[webhooks, people, keys, commands].some(({ isLoading }) => isLoading) ? (
          <Text>{t("counting")}</Text>
        ) : (
          <List size="sm" spacing={2}>
            <List.Item>{t("goes.past")}</List.Item>
            {(["webhooks", "people", "keys", "commands"] as const).map((name) => {
              const text = writeCount(name);
              return text !== undefined && <List.Item key={name}>{text}</List.Item>;
            })}
          </List>
        )}
      </div>
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

/** What could not be read has more than none. Without an archive there are no webhooks. */
function countOf<T>(
  { value, error }: { readonly value: PageOf<T> | undefined; readonly error: ApiError | undefined },
  isCounted: (item: T) => boolean = () => true,
): { readonly count: number; readonly hasMore: boolean } {
  if (!value) return { count: 0, hasMore: error?.code !== ERRORS.notConfigured.code };
  return { count: value.items.filter(isCounted).length, hasMore: value.next !== null };
}

function isNotRevoked({ revoked_at: at }: KeyResource): boolean {
  return at === null;
}
