// The form that adds or edits a person: the name, the role on each server, and the ids by which others know them.
import { ActionIcon, Checkbox, Group, NativeSelect, SimpleGrid, Stack, Text, TextInput, Tooltip } from "@mantine/core";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { PersonResource, RoleResource } from "../../../../core/wire/people.ts";
import type { ServerResource } from "../../../../core/wire/server.ts";
import { Icon } from "../../../parts/icon.tsx";
import { markInvisible, NameText } from "../../../parts/text/game-text.tsx";
import { useRoleTitle } from "../../../state/session/person.ts";
import { type ApiFormOptions, FieldGroup, FormFrame, useApiForm } from "../form.tsx";
import { Hint } from "../layout.tsx";
import { listServerOptions } from "../list-frame.tsx";
import { RoleWords, useGrantableRoles } from "../rights-fields.tsx";

export type PersonFormValues = {
  readonly name: string;
  readonly is_operator: boolean;
  readonly servers: PersonResource["servers"];
  readonly player_id: string;
  readonly chat_id: string;
};

type PersonFields = Pick<PersonResource, "name" | "is_operator" | "servers" | "player_id" | "chat_id">;

export function toFormValues({ player_id, chat_id, ...person }: PersonFields): PersonFormValues {
  const { name, is_operator, servers } = person;
  return { name, is_operator, servers, player_id: player_id ?? "", chat_id: chat_id ?? "" };
}

export function toBody(values: PersonFormValues): PersonFields {
  const { name, player_id, chat_id, ...rest } = values;
  return { ...rest, name: name.trim(), player_id: player_id.trim() || null, chat_id: chat_id.trim() || null };
}

/** The role that a server begins with: the usual one, if the user may give it. */
export function pickFirstRole(grantable: readonly RoleResource[]): string | undefined {
  return (grantable.find(({ name }) => name === "moderator") ?? grantable[0])?.name;
}
const DIGITS = { inputMode: "numeric", autoComplete: "off", spellCheck: false } as const;

export function PersonForm<R extends object, T>(
  props: Pick<ApiFormOptions<PersonFormValues, R, T>, "start" | "toBody" | "change" | "onDone"> & {
    /** The servers on which the user may give roles. */
    readonly servers: readonly ServerResource[];
    readonly roles: readonly RoleResource[];
    /** Whether the user may make operators. */
    readonly isOperator: boolean;
    readonly label: string;
    readonly onCancel: () => void;
  },
) {
  const { t } = useTranslation("operatorPeople");
  const form = useApiForm("operatorPeople", { ...props, invalidates: ["people"] });
  const { field } = form;
  return (
    <FormFrame form={form} label={props.label} onCancel={props.onCancel} unchanged={t("form.nothingChanged")}>
      <TextInput {...field("name")} required maxLength={50} autoComplete="off" data-autofocus />
      {!form.values.is_operator && (
        <ServerRoles
          {...props}
          value={form.values.servers}
          error={form.errors.servers}
          onChange={(servers) => form.setFieldValue("servers", servers)}
        />
      )}
      {props.isOperator && <Checkbox {...field("is_operator", "checkbox")} />}
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <TextInput {...field("player_id")} {...DIGITS} />
        <TextInput {...field("chat_id")} {...DIGITS} />
      </SimpleGrid>
    </FormFrame>
  );
}

function ServerRoles(props: {
  readonly servers: readonly ServerResource[];
  readonly roles: readonly RoleResource[];
  readonly value: PersonFormValues["servers"];
  readonly error: ReactNode;
  readonly onChange: (value: PersonFormValues["servers"]) => void;
}) {
  const { t } = useTranslation("operatorPeople");
  const { servers, roles, value, onChange } = props;
  const grantable = useGrantableRoles();
  const titleOf = useRoleTitle();
  const others = servers.filter(({ server_id: id }) => !value.some((one) => one.server_id === id));
  return (
    <FieldGroup label={t("form.servers")} error={props.error}>
      {value.length === 0 && <Hint>{t("form.noServers")}</Hint>}
      <Stack gap="sm" component="ul" className="plain-list">
        {value.map(({ server_id: id, role }) => {
          const server = servers.find(({ server_id: other }) => other === id);
          const name = server?.name ?? t("form.elsewhere");
          const remove = t("form.remove", { server: markInvisible(name) });
          return (
            <li key={id}>
              <Group gap="xs" wrap="nowrap">
                <Text size="sm" flex="1 1 8rem" miw={0} fw={600}>
                  <NameText text={name} />
                </Text>
                <NativeSelect
                  aria-label={t("form.role", { server: markInvisible(name) })}
                  value={role}
                  disabled={!server}
                  onChange={({ currentTarget }) =>
                    onChange(value.map((one) => (one.server_id === id ? { ...one, role: currentTarget.value } : one)))
                  }
                  data={grantable(id, role, roles).map((each) => ({
                    value: each.name,
                    label: markInvisible(titleOf(each)),
                  }))}
                  flex="0 1 12rem"
                />
                <Tooltip label={remove}>
                  <ActionIcon
                    aria-label={remove}
                    disabled={!server}
                    onClick={() => onChange(value.filter((one) => one.server_id !== id))}
                  >
                    <Icon name="close" size={18} />
                  </ActionIcon>
                </Tooltip>
              </Group>
              <RoleWords role={roles.find(({ name: each }) => each === role)} isBrief />
            </li>
          );
        })}
      </Stack>
      {others.length > 0 && (
        <NativeSelect
          aria-label={t("form.addServer")}
          value=""
          onChange={({ currentTarget: { value: id } }) => {
            const role = pickFirstRole(grantable(id, "", roles));
            if (role !== undefined) onChange([...value, { server_id: id, role }]);
          }}
          data={[{ value: "", label: `${t("form.addServer")}…` }, ...listServerOptions(others)]}
          maw={320}
        />
      )}
    </FieldGroup>
  );
}
