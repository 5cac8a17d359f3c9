// The operator's view "keys": lists, creates, edits, suspends, rotates and revokes API keys.
import { Alert, Button } from "@mantine/core";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import type { KeyState } from "../../../../core/keys/key-state.ts";
import type { KeyResource } from "../../../../core/wire/key.ts";
import { Dialog, useDialog } from "../../../parts/dialog.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { Toolbar } from "../../../parts/table/table-toolbar.tsx";
import { NameText } from "../../../parts/text/game-text.tsx";
import { ViewPage } from "../../../parts/view-page.tsx";
import { useAdmin, useAdminChange } from "../../../state/session/use-admin.ts";
import { useServerNames } from "../fields.tsx";
import { ChangeDialog, listChanges } from "../form.tsx";
import { ListFilter, PagedTable, SearchFilter, ServerFilter } from "../list-frame.tsx";
import { attributesOfKey, isToken, type KeyActions, keyOfKey, useKeyColumns, useKeySearch } from "./key-columns.tsx";
import { KeyDetails } from "./key-details.tsx";
import { KeyForm, NEW_RIGHTS, toBody, toFormValues } from "./key-form.tsx";
import { RotationForm, type ShownToken, TokenDialog } from "./rotation-form.tsx";

/** In the order in which operators look for them. */
const SHOWN_STATES: readonly KeyState[] = ["active", "blocked", "suspended", "expired", "revoked"];
/** The maximum length of a label. */
const LABEL_MAX = 100;

export function KeysView() {
  const { t } = useTranslation(["operatorKeys", "operator"]);
  const admin = useAdmin();
  const { servers, nameOf, isLoading } = useServerNames("keys");
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
      {resume.error && (
        <Alert role="alert" color="red" icon={<Icon name="warning" />}>
          {t("changeFailed", { message: resume.error.message, code: resume.error.code })}
        </Alert>
      )}
      <PagedTable
        toolbar={
          <Toolbar>
            <ServerFilter servers={servers} value={serverId} onChange={setServerId} />
            <SearchFilter
              placeholder={t("searchHint")}
              maxLength={LABEL_MAX}
              value={search}
              onChange={setSearch}
              error={isToken(search) && t("searchedToken")}
            />
            <ListFilter
              label={t("operator:fields.status")}
              everyLabel={t("everyState")}
              options={SHOWN_STATES.map((value) => ({ value, label: t(`state.${value}`) }))}
              value={state}
              onChange={setState}
            />
          </Toolbar>
        }
        list={list}
        label={t("list")}
        name="operator-keys"
        empty={isFiltered ? { title: t("noMatch") } : { title: t("empty"), text: t("emptyText") }}
        columns={columns}
        keyOf={keyOfKey}
        attributesOf={attributesOfKey}
        writeCount={(count) => t("shown", { count })}
      />

      <Dialog state={creating} title={t("create")} isLarge>
        {() => (
          <KeyForm
            start={toFormValues({ ...NEW_RIGHTS, label: "", server_id: serverId || (servers[0]?.server_id ?? "") })}
            servers={servers}
            label={t("operator:create")}
            toBody={toBody}
            change={admin.createKey}
            onCancel={creating.close}
            onDone={(created) => {
              creating.close();
              token.open({ label: created.label, secret: created.token, facadeKey: created.facade_key });
            }}
          />
        )}
      </Dialog>
      <Dialog state={editing} title={t("editTitle")} isLarge>
        {(key) => (
          <KeyForm
            start={toFormValues(key)}
            label={t("operator:save")}
            toBody={(values) => listChanges(toBody(toFormValues(key)), toBody(values))}
            change={(body) => admin.changeKey(key.key_id, body)}
            onCancel={editing.close}
            onDone={editing.close}
          />
        )}
      </Dialog>
      <Dialog state={viewing} title={<NameText text={viewing.item?.label ?? ""} />} isLarge>
        {(key) => <KeyDetails keyId={key.key_id} serverName={nameOf(key.server_id) ?? key.server_id} />}
      </Dialog>
      <ChangeDialog
        state={suspending}
        title={t("suspension.title")}
        label={t("suspend")}
        nameOf={labelOf}
        text={(label) => t("suspension.text", { label })}
        change={(key) => admin.changeKey(key.key_id, { suspended: true })}
        invalidates={["keys"]}
      />
      <ChangeDialog
        state={revoking}
        title={t("revocation.title")}
        label={t("revocation.action")}
        nameOf={labelOf}
        text={(label) => t("revocation.text", { label })}
        change={(key) => admin.revokeKey(key.key_id)}
        invalidates={["keys", "blocks"]}
      />
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

function labelOf({ label }: KeyResource): string {
  return label;
}
