// The operator's view "servers": add, change, delete. A server key goes in and never comes out.
import { Button, Group, Paper, PasswordInput, Stack, Text, TextInput } from "@mantine/core";
import { type FormEvent, type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import type { NewServer, ServerResource } from "../../../core/wire/server.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Dialog, DialogButtons, useDialog } from "../../parts/dialog.tsx";
import { writeUnseen } from "../../parts/game-text.tsx";
import { Icon } from "../../parts/icon.tsx";
import { isTypeable, NamedSentence, NameText } from "../../parts/name-text.tsx";
import { ViewPage } from "../../parts/view-page.tsx";
import { useAdmin, useAdminChange, useAdminQuery, usePagedList } from "../../state/use-admin.ts";
import { useFormat } from "../../state/use-format.ts";
import { FormError, useFirstWrong, useReasons } from "./change.tsx";
import { DoneNote } from "./done-note.tsx";
import { ListFrame } from "./list-frame.tsx";

const FIELDS = ["name", "community", "server_key"];
const COUNT_MAX = 200;

export function ServersView() {
  const { t } = useTranslation("operatorServers");
  const admin = useAdmin();
  const list = usePagedList(["servers"], admin.listServers);
  const adding = useDialog<true>();
  const editing = useDialog<ServerResource>();
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
      <DoneNote text={done} onClose={() => setDone(undefined)} />
      <ListFrame list={list} label={t("list")} empty={{ title: t("empty"), text: t("emptyText") }}>
        {(server) => (
          <ServerRow
            key={server.server_id}
            server={server}
            onEdit={() => editing.open(server)}
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
      <Dialog state={deleting} title={t("deleteTitle")}>
        {(server) => (
          <DeleteQuestion
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

function ServerRow(props: {
  readonly server: ServerResource;
  readonly onEdit: () => void;
  readonly onDelete: () => void;
}) {
  const { t } = useTranslation("operatorServers");
  const format = useFormat();
  const { server } = props;
  const name = writeUnseen(server.name);
  return (
    <Paper component="li" withBorder p="sm">
      <Group justify="space-between" gap="xs">
        <Stack gap={2} flex="1 1 16rem" miw={0}>
          <Text fw={650}>
            <NameText text={server.name} />
          </Text>
          <Text size="sm" c="dimmed" className="untrusted">
            {server.community === null ? t("noCommunity") : `${t("community")}: ${server.community}`}
            {" · "}
            {t("addedAt", { time: format.dateTime(server.created_at) })}
          </Text>
          <Group gap={4}>
            <Text size="sm" c="dimmed" ff="monospace">
              {server.server_id}
            </Text>
            <CopyButton value={server.server_id} label={server.server_id} />
          </Group>
        </Stack>
        <Group gap="xs">
          <Button size="xs" variant="light" onClick={props.onEdit} aria-label={t("editName", { name })}>
            {t("edit")}
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
  /** Undefined for a new one. */
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
  const { run, isRunning, error } = useAdminChange(
    (draft: NewServer) => {
      if (!server) return admin.createServer(draft);
      const { server_key: newKey, ...rest } = draft;
      return admin.changeServer(server.server_id, newKey === "" ? rest : draft);
    },
    ["servers"],
  );
  const form = useFirstWrong(error);
  const reasonFor = useReasons(error);

  async function submit(event: FormEvent) {
    event.preventDefault();
    const draft = {
      name: name.trim(),
      community: community.trim() === "" ? null : community.trim(),
      server_key: serverKey.trim(),
    };
    const made = await run(draft);
    if (made) props.onDone(made);
  }

  return (
    <form ref={form} onSubmit={(event) => void submit(event)} noValidate>
      <Stack gap="sm">
        <TextInput
          label={t("name")}
          description={t("nameHint")}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={reasonFor("name")}
          required
          data-autofocus
        />
        <TextInput
          label={t("community")}
          description={t("communityHint")}
          value={community}
          onChange={(event) => setCommunity(event.currentTarget.value)}
          error={reasonFor("community")}
          autoCapitalize="off"
          spellCheck={false}
        />
        <PasswordInput
          label={t(server ? "newServerKey" : "serverKey")}
          description={t(server ? "newServerKeyHint" : "serverKeyHint")}
          value={serverKey}
          onChange={(event) => setServerKey(event.currentTarget.value)}
          error={reasonFor("server_key")}
          required={!server}
          autoComplete="off"
          visible={false}
          visibilityToggleButtonProps={{ style: { display: "none" } }}
        />
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

function DeleteQuestion(props: {
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
  const wanted = isTypeable(server.name) ? server.name : server.server_id;
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
    const gone = await run(server.server_id);
    if (gone) props.onDone(gone.revoked_keys, gone.failed_commands);
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
          label={t(wanted === server.server_id ? "typeId" : "typeName")}
          description={wanted}
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
            isDisabled={typed.trim() !== wanted.trim()}
            onCancel={props.onCancel}
          />
        </Group>
      </Stack>
    </form>
  );
}
