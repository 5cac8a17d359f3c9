// The operator's view "keys": who may ask what, from creating a key to revoking it.
import {
  ActionIcon,
  Alert,
  Badge,
  Button,
  Checkbox,
  Group,
  Menu,
  NativeSelect,
  Paper,
  Stack,
  Text,
  TextInput,
} from "@mantine/core";
import { type FormEvent, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { judgeKeyState, type KeyState } from "../../../core/key-state.ts";
import { SECTIONS } from "../../../core/sections.ts";
import type { KeyResource } from "../../../core/wire/key.ts";
import type { ApiError } from "../../api/request.ts";
import { Dialog, DialogButtons, useDialog } from "../../parts/dialog.tsx";
import { writeUnseen } from "../../parts/game-text.tsx";
import { Icon } from "../../parts/icon.tsx";
import { NamedSentence, NameText } from "../../parts/name-text.tsx";
import { ViewPage } from "../../parts/view-page.tsx";
import { useAdmin, useAdminChange, usePagedList } from "../../state/use-admin.ts";
import { useFormat } from "../../state/use-format.ts";
import { useNow } from "../../state/use-now.ts";
import { ChangeDialog, FormError, useFirstWrong, useReasons } from "./change.tsx";
import { KeyDetails } from "./key-details.tsx";
import { CreateKeyForm, EditKeyForm } from "./key-form.tsx";
import { ListFrame } from "./list-frame.tsx";
import { useServerNames } from "./names.ts";
import { ServerFilter } from "./server-filter.tsx";
import { type ShownToken, TokenDialog } from "./token-dialog.tsx";

const KEYS_EVERY_MS = 15_000;
/** Of more keys than this, the search sees those that were loaded. */
const SEARCHED_MAX = 2_000;
const GRACES = [0, 3_600, 86_400, 604_800, 2_592_000] as const;

const STATE_COLOURS: Readonly<Record<KeyState, string>> = {
  active: "teal",
  suspended: "orange",
  expired: "gray",
  revoked: "red",
};

export function KeysView() {
  const { t } = useTranslation(["operatorKeys", "shell"]);
  const admin = useAdmin();
  const { servers, nameOf, isLoading } = useServerNames();
  const [serverId, setServerId] = useState("");
  const [search, setSearch] = useState("");
  const [isRevokedShown, setRevokedShown] = useState(false);
  const list = usePagedList(
    ["keys", "list", serverId],
    (query) => admin.listKeys({ ...query, ...(serverId !== "" && { server_id: serverId }) }),
    KEYS_EVERY_MS,
  );
  const wanted = search.trim().toLowerCase();
  const shown = list.items.filter(({ label, key_id: id, revoked_at: revokedAt }) => {
    return (
      (isRevokedShown || revokedAt === null) &&
      (label.toLowerCase().includes(wanted) || id.toLowerCase().includes(wanted))
    );
  });
  const { hasMore, isLoadingMore, loadMore } = list;
  useEffect(() => {
    // The API does not search: whoever does must have all of them.
    if (wanted !== "" && hasMore && !isLoadingMore && list.items.length < SEARCHED_MAX) loadMore();
  }, [wanted, hasMore, isLoadingMore, loadMore, list.items.length]);

  const creating = useDialog<true>();
  const editing = useDialog<KeyResource>();
  const looking = useDialog<KeyResource>();
  const suspending = useDialog<KeyResource>();
  const rotating = useDialog<KeyResource>();
  const revoking = useDialog<KeyResource>();
  const token = useDialog<ShownToken>();
  const resume = useAdminChange((id: string) => admin.changeKey(id, { suspended: false }), ["keys"], true);

  return (
    <ViewPage
      title={t("title")}
      summary={t("summary")}
      actions={
        <Button
          leftSection={<Icon name="plus" size={16} />}
          onClick={() => creating.open(true)}
          disabled={servers.length === 0}
        >
          {t("create")}
        </Button>
      }
    >
      {!isLoading && servers.length === 0 && (
        <Alert color="blue" icon={<Icon name="servers" />}>
          {t("needsServer")}
        </Alert>
      )}
      <Group gap="sm" align="flex-end">
        <ServerFilter
          label={t("server")}
          everyLabel={t("everyServer")}
          servers={servers}
          value={serverId}
          onChange={setServerId}
        />
        <TextInput
          type="search"
          label={t("shell:search")}
          placeholder={t("searchHint")}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
          leftSection={<Icon name="search" size={16} />}
          flex="1 1 12rem"
          maw={320}
        />
        <Checkbox
          label={t("showRevoked")}
          checked={isRevokedShown}
          onChange={(event) => setRevokedShown(event.currentTarget.checked)}
          pb={8}
        />
      </Group>
      {resume.error && <ChangeFault error={resume.error} />}
      <Text size="sm" c="dimmed" role="status">
        {!list.isLoading && `${t("shown", { count: shown.length })}${hasMore ? "+" : ""}`}
      </Text>
      <ListFrame
        list={list}
        items={shown}
        label={t("list")}
        empty={wanted === "" ? { title: t("empty"), text: t("emptyText") } : { title: t("noMatch") }}
      >
        {(key) => (
          <KeyRow
            key={key.key_id}
            apiKey={key}
            serverName={nameOf(key.server_id) ?? key.server_id}
            onDetails={() => looking.open(key)}
            onEdit={() => editing.open(key)}
            onSuspend={() => suspending.open(key)}
            onResume={() => void resume.run(key.key_id)}
            onRotate={() => rotating.open(key)}
            onRevoke={() => revoking.open(key)}
          />
        )}
      </ListFrame>

      <Dialog state={creating} title={t("createTitle")} isLarge>
        {() => (
          <CreateKeyForm
            servers={servers}
            serverId={serverId === "" ? undefined : serverId}
            onCancel={creating.close}
            onDone={(made) => {
              creating.close();
              token.open({ label: made.label, token: made.token });
            }}
          />
        )}
      </Dialog>
      <Dialog state={editing} title={t("editTitle")} isLarge>
        {(key) => <EditKeyForm apiKey={key} onCancel={editing.close} onDone={editing.close} />}
      </Dialog>
      <Dialog state={looking} title={<NameText text={looking.item?.label ?? ""} />} isLarge>
        {(key) => <KeyDetails keyId={key.key_id} serverName={nameOf(key.server_id) ?? key.server_id} />}
      </Dialog>
      <ChangeDialog
        state={suspending}
        title={t("suspension.title")}
        label={t("suspension.action")}
        change={(key) => admin.changeKey(key.key_id, { suspended: true })}
        touches={["keys"]}
      >
        {(key) => (
          <Text>
            <NamedSentence names={[key.label]} write={(label) => t("suspension.text", { label })} />
          </Text>
        )}
      </ChangeDialog>
      <ChangeDialog
        state={revoking}
        title={t("revocation.title")}
        label={t("revocation.action")}
        change={(key) => admin.revokeKey(key.key_id)}
        touches={["keys", "blocks"]}
      >
        {(key) => (
          <Text>
            <NamedSentence names={[key.label]} write={(label) => t("revocation.text", { label })} />
          </Text>
        )}
      </ChangeDialog>
      <Dialog state={rotating} title={t("rotation.title")}>
        {(key) => (
          <RotationForm
            apiKey={key}
            onCancel={rotating.close}
            onDone={(shownToken) => {
              rotating.close();
              token.open(shownToken);
            }}
          />
        )}
      </Dialog>
      <TokenDialog state={token} />
    </ViewPage>
  );
}

function ChangeFault({ error }: { readonly error: ApiError }) {
  const { t } = useTranslation("operatorKeys");
  return (
    <Alert role="alert" color="red" icon={<Icon name="warning" />}>
      {t("changeFailed", { message: error.message, code: error.code })}
    </Alert>
  );
}

function KeyRow(props: {
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
  const now = useNow(10_000);
  const { apiKey } = props;
  const label = writeUnseen(apiKey.label);
  const state = judgeKeyState(apiKey, now);
  const times = useTimes(apiKey, state);
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

function useTimes(key: KeyResource, state: KeyState): string {
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

function RotationForm(props: {
  readonly apiKey: KeyResource;
  readonly onCancel: () => void;
  readonly onDone: (token: ShownToken) => void;
}) {
  const { t } = useTranslation("operatorKeys");
  const admin = useAdmin();
  const { key_id: keyId, label } = props.apiKey;
  const [grace, setGrace] = useState(3_600);
  const { run, isRunning, error } = useAdminChange(
    (seconds: number) => admin.rotateKey(keyId, { grace_seconds: seconds }),
    ["keys"],
  );
  const form = useFirstWrong(error);
  const reasonFor = useReasons(error);
  async function submit(event: FormEvent) {
    event.preventDefault();
    const made = await run(grace);
    if (made) props.onDone({ label, token: made.token, oldUntil: made.old_token_valid_until });
  }
  return (
    <form ref={form} onSubmit={(event) => void submit(event)} noValidate>
      <Stack gap="sm">
        <Text>
          <NamedSentence names={[label]} write={(place) => t("rotation.text", { label: place })} />
        </Text>
        <NativeSelect
          label={t("rotation.grace")}
          value={String(grace)}
          onChange={(event) => setGrace(Number(event.currentTarget.value))}
          data={GRACES.map((seconds) => ({ value: String(seconds), label: t(`rotation.at${seconds}`) }))}
          error={reasonFor("grace_seconds")}
          data-autofocus
        />
        <FormError error={error} fields={["grace_seconds"]} />
        <DialogButtons label={t("rotation.action")} isRunning={isRunning} onCancel={props.onCancel} />
      </Stack>
    </form>
  );
}
