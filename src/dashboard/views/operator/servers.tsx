// The operator's view "servers": adds, edits and deletes servers. A server key can be set but is never shown.
import {
  Alert,
  Anchor,
  Button,
  Checkbox,
  Group,
  List,
  Paper,
  PasswordInput,
  Stack,
  Text,
  TextInput,
} from "@mantine/core";
import { type FormEvent, type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import type { NewServer, ServerResource } from "../../../core/wire/server.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Dialog, DialogButtons, useDialog } from "../../parts/dialog.tsx";
import { markInvisible } from "../../parts/game-text.tsx";
import { Icon } from "../../parts/icon.tsx";
import { isTypeable, NamedSentence, NameText } from "../../parts/name-text.tsx";
import { ViewPage } from "../../parts/view-page.tsx";
import { hrefOf, serverBase } from "../../state/route.ts";
import { useAdmin, useAdminChange, useAdminQuery, usePagedList } from "../../state/use-admin.ts";
import { useFormat } from "../../state/use-format.ts";
import { AlertsForm } from "./alerts-form.tsx";
import { FormError, useFieldReasons, useFocusFirstInvalid, useMendedFields } from "./change.tsx";
import { ListFrame } from "./list-frame.tsx";
import { MapImageForm } from "./map-image-form.tsx";
import { readAllPages } from "./names.ts";
import { needsAttention, ServerFacts, StateBadge } from "./server-facts.tsx";
import { SuccessMessage } from "./success-message.tsx";

const POLL_INTERVAL_MS = 5_000;
const FIELDS = ["name", "community", "server_key", "watch", "public_status"];
/** All pages of the list are read for it. */
const ATTENTION_INTERVAL_MS = 30_000;
const ATTENTION_MAX = 10;
/** More keys or commands are not counted before a server is deleted. */
const COUNT_MAX = 200;

export function ServersView() {
  const { t } = useTranslation("operatorServers");
  const admin = useAdmin();
  const list = usePagedList(["servers", "list"], admin.listServers, POLL_INTERVAL_MS);
  const adding = useDialog<true>();
  const editing = useDialog<ServerResource>();
  const mapping = useDialog<ServerResource>();
  const alerting = useDialog<ServerResource>();
  const deleting = useDialog<ServerResource>();
  const [done, setDone] = useState<ReactNode>();
  return (
    <ViewPage
      title={t("title")}
      summary={t("summary")}
      actions={
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => adding.open(true)}>
          {t("add")}
        </Button>
      }
    >
      <SuccessMessage text={done} onClose={() => setDone(undefined)} />
      {list.hasMore && <AttentionAlert />}
      <ListFrame list={list} label={t("list")} empty={{ title: t("empty"), text: t("emptyText") }}>
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
        {() => (
          <ServerForm
            server={undefined}
            onCancel={adding.close}
            onDone={({ name }) => {
              adding.close();
              setDone(<NamedSentence names={[name]} write={(place) => t("created", { name: place })} />);
            }}
          />
        )}
      </Dialog>
      <Dialog state={editing} title={t("editTitle")}>
        {(server) => (
          <ServerForm
            server={server}
            onCancel={editing.close}
            onDone={({ name }) => {
              editing.close();
              setDone(<NamedSentence names={[name]} write={(place) => t("saved", { name: place })} />);
            }}
          />
        )}
      </Dialog>
      <Dialog state={mapping} title={t("map.title")} isLarge>
        {(server) => (
          <MapImageForm
            server={server}
            onCancel={mapping.close}
            onDone={(what) => {
              mapping.close();
              setDone(<NamedSentence names={[server.name]} write={(name) => t(`map.${what}`, { name })} />);
            }}
          />
        )}
      </Dialog>
      <Dialog state={alerting} title={t("alerts.title")} isLarge>
        {(server) => (
          <AlertsForm
            server={server}
            onCancel={alerting.close}
            onDone={() => {
              alerting.close();
              setDone(<NamedSentence names={[server.name]} write={(name) => t("alerts.saved", { name })} />);
            }}
          />
        )}
      </Dialog>
      <Dialog state={deleting} title={t("deleteTitle")}>
        {(server) => (
          <DeleteServerForm
            server={server}
            onCancel={deleting.close}
            onDone={(keys, commands) => {
              deleting.close();
              setDone(
                <NamedSentence
                  names={[server.name]}
                  write={(name) => t("deleted", { name, keys, commands })}
                />,
              );
            }}
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
  const { t } = useTranslation("operatorServers");
  const format = useFormat();
  const { server } = props;
  const name = markInvisible(server.name);
  return (
    <Paper component="li" withBorder p="sm">
      <Group justify="space-between" gap="xs">
        <Stack gap={2} flex="1 1 16rem" miw={0}>
          <Text fw={650}>
            <NameText text={server.name} />
          </Text>
          <ServerFacts server={server} />
          <Text size="sm" c="dimmed" className="untrusted">
            {server.community === null ? t("noCommunity") : `${t("community")}: ${server.community}`}
            {" · "}
            {t("addedAt", { time: format.dateTime(server.created_at) })}
          </Text>
          {server.public_status && (
            <Anchor href={`/status/${server.public_status.slug}`} target="_blank" rel="noopener" size="sm">
              {t("publicAt", { path: `/status/${server.public_status.slug}` })}
            </Anchor>
          )}
          <Group gap={4}>
            <Text size="sm" c="dimmed" ff="monospace">
              {server.server_id}
            </Text>
            <CopyButton value={server.server_id} label={server.server_id} />
          </Group>
        </Stack>
        <Group gap="xs">
          <Button
            component="a"
            href={hrefOf(`${serverBase(server.server_id)}live`)}
            size="xs"
            variant="light"
            aria-label={t("openName", { name })}
          >
            {t("open")}
          </Button>
          <Button size="xs" variant="light" onClick={props.onEdit} aria-label={t("editName", { name })}>
            {t("edit")}
          </Button>
          <Button size="xs" variant="light" onClick={props.onMap} aria-label={t("map.openName", { name })}>
            {t("map.open")}
          </Button>
          <Button
            size="xs"
            variant="light"
            onClick={props.onAlerts}
            aria-label={t("alerts.openName", { name })}
          >
            {t("alerts.open")}
          </Button>
          <Button
            size="xs"
            variant="light"
            color="red"
            onClick={props.onDelete}
            aria-label={t("deleteName", { name })}
          >
            {t("delete")}
          </Button>
        </Group>
      </Group>
    </Paper>
  );
}

function ServerForm(props: {
  /** Undefined for a new server. */
  readonly server: ServerResource | undefined;
  readonly onCancel: () => void;
  readonly onDone: (server: ServerResource) => void;
}) {
  const { t } = useTranslation("operatorServers");
  const admin = useAdmin();
  const { server } = props;
  const [name, setName] = useState(server?.name ?? "");
  const [community, setCommunity] = useState(server?.community ?? "");
  const [serverKey, setServerKey] = useState("");
  const [isWatched, setWatched] = useState(server?.watch ?? true);
  const [slug, setSlug] = useState(server?.public_status?.slug ?? "");
  const [showsJoinKey, setShowsJoinKey] = useState(server?.public_status?.show_join_key ?? false);
  const { run, isRunning, error } = useAdminChange(
    (draft: NewServer) => {
      if (!server) return admin.createServer(draft);
      const { server_key: newKey, ...rest } = draft;
      return admin.changeServer(server.server_id, newKey === "" ? rest : draft);
    },
    ["servers"],
  );
  const form = useFocusFirstInvalid(error);
  const findReason = useFieldReasons(error);
  const { isMended, mend } = useMendedFields(error);
  const reasonFor = (field: string) => (isMended(field) ? undefined : findReason(field));

  async function submit(event: FormEvent) {
    event.preventDefault();
    const draft = {
      name: name.trim(),
      community: community.trim() === "" ? null : community.trim(),
      server_key: serverKey.trim(),
      watch: isWatched,
      public_status: slug.trim() === "" ? null : { slug: slug.trim(), show_join_key: showsJoinKey },
    };
    const saved = await run(draft);
    if (saved) props.onDone(saved);
  }

  return (
    <form ref={form} onSubmit={(event) => void submit(event)} noValidate>
      <Stack gap="sm">
        <TextInput
          label={t("name")}
          description={t("nameHint")}
          value={name}
          onChange={(event) => {
            setName(event.currentTarget.value);
            mend("name");
          }}
          error={reasonFor("name")}
          required
          data-autofocus
        />
        <TextInput
          label={t("community")}
          description={t("communityHint")}
          value={community}
          onChange={(event) => {
            setCommunity(event.currentTarget.value);
            mend("community");
          }}
          error={reasonFor("community")}
          autoCapitalize="off"
          spellCheck={false}
        />
        <PasswordInput
          label={t(server ? "newServerKey" : "serverKey")}
          description={t(server ? "newServerKeyHint" : "serverKeyHint")}
          value={serverKey}
          onChange={(event) => {
            setServerKey(event.currentTarget.value);
            mend("server_key");
          }}
          error={reasonFor("server_key")}
          required={!server}
          autoComplete="off"
          visible={false}
          visibilityToggleButtonProps={{ style: { display: "none" } }}
        />
        <Checkbox
          label={t("watch")}
          description={t("watchHint")}
          checked={isWatched}
          onChange={(event) => {
            setWatched(event.currentTarget.checked);
            mend("watch");
          }}
          error={reasonFor("watch")}
        />
        <TextInput
          label={t("publicStatus")}
          description={t("publicStatusHint")}
          value={slug}
          onChange={(event) => {
            setSlug(event.currentTarget.value);
            mend("public_status");
          }}
          error={reasonFor("public_status")}
          leftSection={<Text size="sm">/status/</Text>}
          leftSectionWidth={66}
          autoCapitalize="off"
          spellCheck={false}
        />
        {slug.trim() !== "" && (
          <Checkbox
            label={t("statusJoinKey")}
            description={t("statusJoinKeyHint")}
            checked={showsJoinKey}
            onChange={(event) => setShowsJoinKey(event.currentTarget.checked)}
          />
        )}
        <FormError error={error} fields={FIELDS} />
        <DialogButtons
          label={t(server ? "save" : "create")}
          isRunning={isRunning}
          onCancel={props.onCancel}
        />
      </Stack>
    </form>
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
  const [typed, setTyped] = useState("");
  const confirmation = isTypeable(server.name) ? server.name : server.server_id;
  const { run, isRunning, error } = useAdminChange(admin.deleteServer, [
    "servers",
    "keys",
    "commands",
    "blocks",
  ]);
  const keyCount = keys.value?.items.filter(({ revoked_at: at }) => at === null).length ?? 0;
  const commandCount = waiting.value?.items.length ?? 0;

  async function submit(event: FormEvent) {
    event.preventDefault();
    const deleted = await run(server.server_id);
    if (deleted) props.onDone(deleted.revoked_keys, deleted.failed_commands);
  }

  return (
    <form onSubmit={(event) => void submit(event)} noValidate>
      <Stack gap="sm">
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
          label={t(confirmation === server.server_id ? "typeId" : "typeName")}
          description={confirmation}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
        />
        <FormError error={error} />
        <Group justify="flex-end">
          <DialogButtons
            label={t("delete")}
            isDangerous
            isRunning={isRunning}
            isDisabled={typed.trim() !== confirmation.trim()}
            onCancel={props.onCancel}
          />
        </Group>
      </Stack>
    </form>
  );
}
