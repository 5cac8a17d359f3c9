// The columns of the list of people, with buttons for everything that can be done with one.
import { Badge, Group, Menu, Text } from "@mantine/core";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { PersonResource, RoleResource } from "../../../../core/wire/people.ts";
import type { ShownColumn } from "../../../parts/table/table-columns.ts";
import { markInvisible, NameText } from "../../../parts/text/game-text.tsx";
import { useRoleTitle } from "../../../state/session/person.ts";
import { MoreMenu, SmallButton } from "../layout.tsx";
import { makeButtons, makeColumn } from "../list-frame.tsx";

const HIDDEN = { width: "7.5rem", phone: "tap", isHiddenAtFirst: true } as const;

export type PersonActions = {
  readonly [Name in "onInvite" | "onEdit" | "onSessions" | "onDisable" | "onEnable" | "onDelete"]: (
    person: PersonResource,
  ) => void;
};

/** `actions` must stay the same object, or every row is rendered again. */
export function usePersonColumns(
  serverOf: (serverId: string) => string | undefined,
  roles: readonly RoleResource[],
  isOperator: boolean,
  actions: PersonActions,
): readonly ShownColumn<PersonResource>[] {
  const { t } = useTranslation(["operatorPeople", "operator", "table"]);
  const titleOf = useRoleTitle();
  return useMemo(() => {
    const nameRole = (name: string) => {
      const found = roles.find((role) => role.name === name);
      return found ? titleOf(found) : name;
    };
    const describeRoles = ({ is_operator: isOperator, servers }: PersonResource) => {
      if (isOperator) return t("operator");
      const said = servers.map(({ server_id: id, role }) =>
        t("roleOn", { role: nameRole(role), server: serverOf(id) ?? t("form.elsewhere") }),
      );
      return said.length === 0 ? undefined : said.join(" · ");
    };
    return [
      {
        id: "name",
        title: t("input.name"),
        readValue: ({ name }) => name,
        cell: ({ name, disabled }) => (
          <Group gap="xs" component="span">
            <Text component="span" size="sm" fw={600}>
              <NameText text={name} />
            </Text>
            {disabled && <Badge color="orange">{t("disabled")}</Badge>}
          </Group>
        ),
      },
      makeColumn("roles", t("column.roles"), "name", describeRoles, {
        width: "40%",
        phone: "line",
        nothing: t("noRole"),
      }),
      makeColumn("seen", t("column.seen"), "ago", ({ last_seen_at: at }) => at ?? undefined, {
        width: "8.5rem",
        phone: "side",
        nothing: t("neverSeen"),
      }),
      makeColumn("sessions", t("column.sessions"), "text", ({ sessions }) => String(sessions), HIDDEN),
      makeColumn("passkeys", t("column.passkeys"), "text", ({ passkeys }) => String(passkeys), HIDDEN),
      // Only operators change operators.
      makeButtons(t("table:buttons"), "17rem", (person) =>
        person.is_operator && !isOperator ? undefined : <PersonButtons person={person} actions={actions} />,
      ),
    ];
  }, [t, titleOf, serverOf, roles, isOperator, actions]);
}

function PersonButtons({ person, actions }: { readonly person: PersonResource; readonly actions: PersonActions }) {
  const { t } = useTranslation(["operatorPeople", "operator"]);
  const name = markInvisible(person.name);
  return (
    <Group gap={4} wrap="nowrap">
      {!person.disabled && (
        <SmallButton
          size="compact-sm"
          text={t("invite")}
          name={t("inviteName", { name })}
          onClick={() => actions.onInvite(person)}
        />
      )}
      <SmallButton
        size="compact-sm"
        text={t("operator:edit")}
        name={t("editName", { name })}
        onClick={() => actions.onEdit(person)}
      />
      <MoreMenu name={t("more", { name })}>
        <Menu.Item onClick={() => actions.onSessions(person)}>{t("signIns")}</Menu.Item>
        {person.disabled ? (
          <Menu.Item onClick={() => actions.onEnable(person)}>{t("enable")}</Menu.Item>
        ) : (
          <Menu.Item onClick={() => actions.onDisable(person)}>{t("disable")}</Menu.Item>
        )}
        <Menu.Item onClick={() => actions.onDelete(person)} c="var(--mantine-color-error)">
          {t("delete")}
        </Menu.Item>
      </MoreMenu>
    </Group>
  );
}
