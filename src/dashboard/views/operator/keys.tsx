// The operator's view "keys": lists, creates, edits, suspends, rotates and revokes API keys.
import { Alert, Button, Group, NativeSelect, Text, TextInput, VisuallyHidden } from "@mantine/core";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import type { KeyState } from "../../../core/key-state.ts";
import type { KeyResource } from "../../../core/wire/key.ts";
import type { ApiError } from "../../api/request.ts";
import { Dialog, useDialog } from "../../parts/dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { NowProvider } from "../../parts/moment.tsx";
import { NamedSentence, NameText } from "../../parts/name-text.tsx";
import { ViewPage } from "../../parts/view-page.tsx";
import { useAdmin, useAdminChange } from "../../state/use-admin.ts";
import { ChangeDialog } from "./change.tsx";
import { attributesOfKey, type KeyActions, keyOfKey, useKeyColumns } from "./key-columns.tsx";
import { KeyDetails } from "./key-details.tsx";
import { CreateKeyForm, EditKeyForm } from "./key-form.tsx";
import { PagedTable } from "./list-frame.tsx";
import { useServerNames } from "./names.ts";
import { RotationForm } from "./rotation-form.tsx";
import { ServerFilter } from "./server-filter.tsx";
import { type ShownToken, TokenDialog } from "./token-dialog.tsx";
import { isToken, useKeySearch } from "./use-key-search.ts";

/** In the order in which operators look for them. */
const SHOWN_STATES: readonly KeyState[] = ["active", "blocked", "suspended", "expired", "revoked"];
/** The maximum length of a label. */
const LABEL_MAX = 100;

export function KeysView() {
  const { t } = useTranslation(["operatorKeys", "shell"]);
  const admin = useAdmin();
  const { servers, nameOf, isLoading } = useServerNames();
  const [serverId, setServerId] = useState("");
  const [search, setSearch] = useState("");
  const [state, setState] = useState<KeyState | "">("");
  const list = useKeySearch({ text: search, serverId, state });
  const isFiltered = search.trim() !== "" || serverId !== "" || state !== "";

  const creating = useDialog<true>();
  const editing = useDialog<KeyResource>();
  const viewing = useDialog<KeyResource>();
  const suspending = useDialog<KeyResource>();
  const rotating = useDialog<KeyResource>();
  const revoking = useDialog<KeyResource>();
  const token = useDialog<ShownToken>();
  const resume = useAdminChange((id: string) => admin.changeKey(id, { suspended: false }), ["keys"], true);

  const shown = !list.isLoading && `${t("shown", { count: list.items.length })}${list.hasMore ? "+" : ""}`;
  const actions = useMemo(
    (): KeyActions => ({
      onDetails: viewing.open,
      onEdit: editing.open,
      onSuspend: suspending.open,
      onResume: (keyId) => void resume.run(keyId),
      onRotate: rotating.open,
      onRevoke: revoking.open,
    }),
    [viewing.open, editing.open, suspending.open, resume.run, rotating.open, revoking.open],
  );
  const columns = useKeyColumns(nameOf, actions);

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
          maw={{ base: "100%", sm: 320 }}
          maxLength={LABEL_MAX}
          error={isToken(search) && t("searchedToken")}
        />
        <NativeSelect
          label={t("stateFilter")}
          value={state}
          onChange={(event) => setState(event.currentTarget.value as KeyState | "")}
          data={[
            { value: "", label: t("everyState") },
            ...SHOWN_STATES.map((value) => ({ value, label: t(`state.${value}`) })),
          ]}
          flex="1 1 10rem"
          maw={{ base: "100%", sm: 240 }}
        />
      </Group>
      {resume.error && <ChangeErrorAlert error={resume.error} />}
      <VisuallyHidden role="status">{shown}</VisuallyHidden>
      <NowProvider>
        <PagedTable
          list={list}
          label={t("list")}
          name="operator-keys"
          empty={isFiltered ? { title: t("noMatch") } : { title: t("empty"), text: t("emptyText") }}
          columns={columns}
          keyOf={keyOfKey}
          attributesOf={attributesOfKey}
        >
          <Text size="sm" c="dimmed" aria-hidden>
            {shown}
          </Text>
        </PagedTable>
      </NowProvider>

      <Dialog state={creating} title={t("createTitle")} isLarge>
        {() => (
          <CreateKeyForm
            servers={servers}
            serverId={serverId === "" ? undefined : serverId}
            onCancel={creating.close}
            onDone={(created) => {
              creating.close();
              token.open({ label: created.label, token: created.token, facadeKey: created.facade_key });
            }}
          />
        )}
      </Dialog>
      <Dialog state={editing} title={t("editTitle")} isLarge>
        {(key) => <EditKeyForm apiKey={key} onCancel={editing.close} onDone={editing.close} />}
      </Dialog>
      <Dialog state={viewing} title={<NameText text={viewing.item?.label ?? ""} />} isLarge>
        {(key) => <KeyDetails keyId={key.key_id} serverName={nameOf(key.server_id) ?? key.server_id} />}
      </Dialog>
      <ChangeDialog
        state={suspending}
        title={t("suspension.title")}
        label={t("suspension.action")}
        change={(key) => admin.changeKey(key.key_id, { suspended: true })}
        invalidates={["keys"]}
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
        invalidates={["keys", "blocks"]}
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

function ChangeErrorAlert({ error }: { readonly error: ApiError }) {
  const { t } = useTranslation("operatorKeys");
  return (
    <Alert role="alert" color="red" icon={<Icon name="warning" />}>
      {t("changeFailed", { message: error.message, code: error.code })}
    </Alert>
  );
}
