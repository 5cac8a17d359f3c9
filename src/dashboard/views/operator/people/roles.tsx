// The part "roles" of the view "people": what each role may do, in words, and the form that changes one.
import { Button, Checkbox, Group, Paper, SimpleGrid, Stack, Text, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { ABILITIES } from "../../../../core/keys/rights.ts";
import { isFirstRole } from "../../../../core/people/role.ts";
import type { NewRole, RoleResource } from "../../../../core/wire/people.ts";
import { Dialog, useDialog } from "../../../parts/dialog.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { FailedState, LoadingState } from "../../../parts/states.tsx";
import { markInvisible, NameText } from "../../../parts/text/game-text.tsx";
import { ViewPage } from "../../../parts/view-page.tsx";
import { useRoleTitle } from "../../../state/session/person.ts";
import { useAdmin, useAdminQuery, useAdminRights } from "../../../state/session/use-admin.ts";
import { ChangeDialog, FieldGroup, FormFrame, useApiForm } from "../form.tsx";
import { SmallButton } from "../layout.tsx";
import {
  type CommandsValue,
  RightsFields,
  type RightsValues,
  RoleWords,
  toCommandNames,
  toRightsValues,
} from "../rights-fields.tsx";

const NEW_ROLE: RoleResource = { name: "", title: "", sections: [], hide: [], commands: [], may: [] };

export function RolesPart({ parts }: { readonly parts: ReactNode }) {
  const { t } = useTranslation(["operatorPeople", "operator"]);
  const admin = useAdmin();
  const { isOperator } = useAdminRights();
  const titleOf = useRoleTitle();
  const list = useAdminQuery(["roles"], admin.listRoles);
  const editing = useDialog<RoleResource>();
  const deleting = useDialog<RoleResource>();
  return (
    <ViewPage
      title={t("title")}
      actions={
        isOperator && (
          <Button leftSection={<Icon name="plus" size={16} />} onClick={() => editing.open(NEW_ROLE)}>
            {t("roles.create")}
          </Button>
        )
      }
    >
      {parts}
      {!list.value && (list.error ? <FailedState error={list.error} onRetry={list.refresh} /> : <LoadingState />)}
      <Stack gap="xs" component="ul" className="plain-list" aria-label={t("roles.list")}>
        {list.value?.items.map((role) => (
          <Paper key={role.name} component="li" withBorder p="sm" data-role={role.name}>
            <Group justify="space-between" gap="xs" align="flex-start">
              <Stack gap={4} flex="1 1 20rem" miw={0}>
                <Group gap="xs">
                  <Text fw={650}>
                    <NameText text={titleOf(role)} />
                  </Text>
                  <Text size="sm" c="dimmed" ff="monospace">
                    {role.name}
                  </Text>
                </Group>
                <RoleWords role={role} />
              </Stack>
              {isOperator && (
                <Group gap="xs">
                  <SmallButton
                    text={t("operator:edit")}
                    name={t("roles.edit", { title: markInvisible(titleOf(role)) })}
                    onClick={() => editing.open(role)}
                  />
                  {!isFirstRole(role.name) && (
                    <SmallButton
                      text={t("roles.delete")}
                      name={t("roles.deleteName", { title: markInvisible(titleOf(role)) })}
                      color="red"
                      onClick={() => deleting.open(role)}
                    />
                  )}
                </Group>
              )}
            </Group>
          </Paper>
        ))}
      </Stack>
      <Dialog state={editing} title={t(editing.item?.name === "" ? "roles.create" : "roles.editTitle")} isLarge>
        {(role) => <RoleForm role={role} onCancel={editing.close} onDone={editing.close} />}
      </Dialog>
      <ChangeDialog
        state={deleting}
        title={t("roles.deletion.title")}
        label={t("roles.deletion.action")}
        nameOf={titleOf}
        text={(name) => t("roles.deletion.text", { name })}
        change={(role) => admin.deleteRole(role.name)}
        invalidates={["roles"]}
      />
    </ViewPage>
  );
}

type RoleFormValues = RightsValues & {
  readonly name: string;
  readonly title: string;
  readonly may: readonly string[];
  readonly commands: CommandsValue;
};

function toRole({ title, sections, hide, commands, may }: RoleFormValues): NewRole {
  return {
    title: title.trim(),
    sections: sections as NewRole["sections"],
    hide: hide as NewRole["hide"],
    commands: [...toCommandNames(commands)],
    may: ABILITIES.filter((ability) => may.includes(ability)),
  };
}

function RoleForm(props: { readonly role: RoleResource; readonly onCancel: () => void; readonly onDone: () => void }) {
  const { t } = useTranslation(["operatorPeople", "operator"]);
  const admin = useAdmin();
  const { role } = props;
  const isNew = role.name === "";
  const form = useApiForm("operatorPeople", {
    start: { name: role.name, title: role.title, may: role.may, ...toRightsValues(role) } as RoleFormValues,
    toBody: (values) => ({ name: values.name.trim(), role: toRole(values) }),
    change: ({ name, role: body }) => admin.setRole(name, body),
    invalidates: ["roles", "people"],
    onDone: props.onDone,
  });
  const { field } = form;
  const may = field("may");
  return (
    <FormFrame form={form} label={t(isNew ? "operator:create" : "operator:save")} onCancel={props.onCancel}>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <TextInput {...field("title")} label={t("roles.titleField")} required data-autofocus />
        {isNew && (
          <TextInput
            {...field("name")}
            label={t("roles.name")}
            description={t("roles.nameHint")}
            required
            autoCapitalize="off"
            spellCheck={false}
          />
        )}
      </SimpleGrid>
      <RightsFields form={form} />
      <FieldGroup label={t("roles.may")} error={may.error}>
        <Checkbox.Group aria-label={t("roles.may")} value={may.value} onChange={may.onChange}>
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs">
            {ABILITIES.map((ability) => (
              <Checkbox key={ability} value={ability} label={t(`ability.${ability}`)} />
            ))}
          </SimpleGrid>
        </Checkbox.Group>
      </FieldGroup>
      <Paper withBorder p="sm" component="section" aria-label={t("roles.inWords")}>
        <Text size="sm" fw={600}>
          {t("roles.inWords")}
        </Text>
        <RoleWords role={toRole(form.values)} />
      </Paper>
    </FormFrame>
  );
}
