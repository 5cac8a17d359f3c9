// The view "people": who signs in, with which role on which server, their invitations and sign-ins. The other part has the roles.
import { Alert, Anchor, Button, Group } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import type { InvitationResource, PersonResource } from "../../../../core/wire/people.ts";
import { Dialog, useDialog } from "../../../parts/dialog.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { Notice } from "../../../parts/states.tsx";
import { Toolbar } from "../../../parts/table/table-toolbar.tsx";
import { NameText } from "../../../parts/text/game-text.tsx";
import { ViewPage } from "../../../parts/view-page.tsx";
import { hrefOf, useRouteId } from "../../../state/route.ts";
import { useAdmin, useAdminChange, useAdminRights, usePagedList } from "../../../state/session/use-admin.ts";
import { useServerNames } from "../fields.tsx";
import { ChangeDialog, listChanges } from "../form.tsx";
import { PagedTable, SearchFilter, ServerFilter } from "../list-frame.tsx";
import { useGrantableRoles, useRoles } from "../rights-fields.tsx";
import { InvitationDialog } from "../secret-dialog.tsx";
import { type PersonActions, usePersonColumns } from "./person-columns.tsx";
import { PersonForm, pickFirstRole, toBody, toFormValues } from "./person-form.tsx";
import { PersonSessions } from "./person-sessions.tsx";
import { RolesPart } from "./roles.tsx";

const POLL_INTERVAL_MS = 15_000;
/** Typing that is faster than this causes no request for each letter. */
const TYPING_MS = 250;
const NAME_MAX = 50;
const ROLES_ROUTE = "roles";

const NEW_PERSON = { name: "", is_operator: false, servers: [], player_id: null, chat_id: null };

export function PeopleView() {
  const { t } = useTranslation(["operatorPeople", "shell"]);
  const part = useRouteId("people") ?? "";
  if (part === "") return <PeoplePart />;
  return part === ROLES_ROUTE ? <RolesPart parts={<Parts />} /> : <Notice icon="search" title={t("shell:notFound")} />;
}

function Parts() {
  const { t } = useTranslation(["operatorPeople", "shell"]);
  const part = useRouteId("people") ?? "";
  const link = (route: string, title: string, isCurrent: boolean) => (
    <Anchor href={hrefOf(route)} underline="never" {...(isCurrent && { "aria-current": "page" as const })}>
      {title}
    </Anchor>
  );
  return (
    <Group role="group" gap={4} aria-label={t("shell:parts")} className="view-parts">
      {link("people", t("part.people"), part === "")}
      {link(`people/${ROLES_ROUTE}`, t("part.roles"), part === ROLES_ROUTE)}
    </Group>
  );
}

function PeoplePart() {
  const { t } = useTranslation(["operatorPeople", "operator"]);
  const admin = useAdmin();
  const { isOperator } = useAdminRights();
  const { servers: managed, nameOf } = useServerNames("people");
  const roles = useRoles();
  const grantable = useGrantableRoles();
  const [serverId, setServerId] = useState("");
  const [search, setSearch] = useState("");
  const [typed] = useDebouncedValue(search.trim(), TYPING_MS);
  const list = usePagedList(
    ["people", "list", serverId, typed],
    (query) =>
      admin.listPeople({
        ...query,
        ...(serverId !== "" && { server_id: serverId }),
        ...(typed !== "" && { name: typed }),
      }),
    POLL_INTERVAL_MS,
    ([, , earlierServerId]) => earlierServerId === serverId,
  );

  const creating = useDialog<true>();
  const editing = useDialog<PersonResource>();
  const viewing = useDialog<PersonResource>();
  const disabling = useDialog<PersonResource>();
  const deleting = useDialog<PersonResource>();
  const invited = useDialog<InvitationResource & { readonly name: string }>();
  const invite = useAdminChange(({ person_id: id }: PersonResource) => admin.invitePerson(id), ["people"], true);
  const enable = useAdminChange((id: string) => admin.changePerson(id, { disabled: false }), ["people"], true);
  const error = invite.error ?? enable.error;

  async function showInvitation(person: PersonResource) {
    const made = await invite.run(person);
    if (made) invited.open({ ...made, name: person.name });
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new object would render every row again
  const actions = useMemo(
    (): PersonActions => ({
      onInvite: (person) => void showInvitation(person),
      onEdit: editing.open,
      onSessions: viewing.open,
      onDisable: disabling.open,
      onEnable: ({ person_id: id }) => void enable.run(id),
      onDelete: deleting.open,
    }),
    [editing.open, viewing.open, disabling.open, deleting.open, invite.run, enable.run],
  );
  /** The filtered server, or the only one there is. */
  function startRoles(): PersonResource["servers"] {
    const [only, ...others] = managed;
    const id = serverId || (others.length === 0 ? only?.server_id : undefined);
    const role = id === undefined ? undefined : pickFirstRole(grantable(id, "", roles));
    return id === undefined || role === undefined ? [] : [{ server_id: id, role }];
  }
  const columns = usePersonColumns(nameOf, roles, isOperator, actions);

  return (
    <ViewPage
      title={t("title")}
      actions={
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => creating.open(true)}>
          {t("create")}
        </Button>
      }
    >
      <Parts />
      {error && (
        <Alert role="alert" color="red" icon={<Icon name="warning" />}>
          {t("changeFailed", { message: error.message, code: error.code })}
        </Alert>
      )}
      <PagedTable
        toolbar={
          <Toolbar>
            <ServerFilter servers={managed} value={serverId} onChange={setServerId} />
            <SearchFilter placeholder={t("searchHint")} maxLength={NAME_MAX} value={search} onChange={setSearch} />
          </Toolbar>
        }
        list={list}
        label={t("list")}
        name="people"
        empty={typed !== "" || serverId !== "" ? { title: t("noMatch") } : { title: t("empty"), text: t("emptyText") }}
        columns={columns}
        keyOf={keyOfPerson}
        writeCount={(count) => t("shown", { count })}
      />

      <Dialog state={creating} title={t("create")} isLarge>
        {() => (
          <PersonForm
            start={toFormValues({ ...NEW_PERSON, servers: startRoles() })}
            servers={managed}
            roles={roles}
            isOperator={isOperator}
            label={t("createAction")}
            toBody={toBody}
            change={admin.createPerson}
            onCancel={creating.close}
            onDone={(created) => {
              creating.close();
              void showInvitation(created);
            }}
          />
        )}
      </Dialog>
      <Dialog state={editing} title={t("editTitle")} isLarge>
        {(person) => (
          <PersonForm
            start={toFormValues(person)}
            servers={managed}
            roles={roles}
            isOperator={isOperator}
            label={t("operator:save")}
            toBody={(values) => listChanges(toBody(toFormValues(person)), toBody(values))}
            change={(body) => admin.changePerson(person.person_id, body)}
            onCancel={editing.close}
            onDone={editing.close}
          />
        )}
      </Dialog>
      <Dialog state={viewing} title={<NameText text={viewing.item?.name ?? ""} />}>
        {(person) => <PersonSessions person={person} />}
      </Dialog>
      <ChangeDialog
        state={disabling}
        title={t("disabling.title")}
        label={t("disabling.action")}
        nameOf={nameOfPerson}
        text={(name) => t("disabling.text", { name })}
        change={(person) => admin.changePerson(person.person_id, { disabled: true })}
        invalidates={["people"]}
      />
      <ChangeDialog
        state={deleting}
        title={t("deletion.title")}
        label={t("deletion.action")}
        nameOf={nameOfPerson}
        text={(name) => t("deletion.text", { name })}
        change={(person) => admin.deletePerson(person.person_id)}
        invalidates={["people"]}
      />
      <InvitationDialog state={invited} />
    </ViewPage>
  );
}

function keyOfPerson({ person_id: id }: PersonResource): string {
  return id;
}

function nameOfPerson({ name }: PersonResource): string {
  return name;
}
