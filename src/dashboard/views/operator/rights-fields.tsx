// The fields that a key and a role have in common: the sections they read, what is hidden from them, and the commands they send.
// And what a role may do, in words.
import { Button, Checkbox, Group, List, Radio, SimpleGrid, Stack, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { HIDEABLE_FIELDS, isWithin, type Rights, toAbilitySet, toHiddenSet } from "../../../core/keys/rights.ts";
import { SECTIONS, toSectionSet } from "../../../core/sections.ts";
import type { RoleResource } from "../../../core/wire/people.ts";
import { markInvisible } from "../../parts/text/game-text.tsx";
import { useMe } from "../../state/session/person.ts";
import { useAdminSession } from "../../state/session/session.ts";
import { useAdmin, useAdminQuery } from "../../state/session/use-admin.ts";
import { type ApiForm, FieldGroup } from "./form.tsx";
import { CommandNamesInput, joinNames } from "./keys/command-names-input.tsx";

const EVERY_COMMAND = "*";

/** Whether no command may be sent, only some, or all. */
type CommandAccess = "none" | "some" | "all";

/** `typed` is in the input, and not added to the names yet. */
export type CommandsValue = {
  readonly access: CommandAccess;
  readonly names: readonly string[];
  readonly typed: string;
};

export type RightsValues = {
  readonly sections: readonly string[];
  readonly hide: readonly string[];
  readonly commands: CommandsValue;
};

export function toRightsValues({ sections, hide, commands }: Omit<RoleRights, "may">): RightsValues {
  const access = commands.includes(EVERY_COMMAND) ? "all" : commands.length > 0 ? "some" : "none";
  return { sections, hide, commands: { access, names: commands.filter((name) => name !== EVERY_COMMAND), typed: "" } };
}

export function toCommandNames({ access, names, typed }: CommandsValue): readonly string[] {
  return access === "all" ? [EVERY_COMMAND] : access === "some" ? joinNames(names, typed) : [];
}

export function RightsFields<V extends RightsValues>(props: { readonly form: ApiForm<V> }) {
  const { t } = useTranslation(["operatorKeys", "operatorPeople", "status"]);
  const form = props.form as unknown as ApiForm<RightsValues>;
  const { field, setFieldValue } = form;
  const { commands } = form.values;
  const { description: sectionsHint, ...sections } = field("sections");
  const hide = field("hide");
  const setCommands = (change: Partial<CommandsValue>) =>
    setFieldValue("commands", (old: CommandsValue) => ({ ...old, ...change }));
  const commandsLabel = field("commands").label;
  return (
    <>
      <FieldGroup label={sections.label} error={sections.error}>
        <Group justify="space-between" gap="xs">
          <Text size="sm" c="dimmed" flex="1 1 12rem">
            {sectionsHint}
          </Text>
          <Group gap="xs">
            <Button size="compact-sm" variant="light" onClick={() => setFieldValue("sections", [...SECTIONS])}>
              {t("form.all")}
            </Button>
            <Button size="compact-sm" variant="light" onClick={() => setFieldValue("sections", [])}>
              {t("form.none")}
            </Button>
          </Group>
        </Group>
        <Checkbox.Group aria-label={sections.label} value={sections.value} onChange={sections.onChange}>
          <SimpleGrid cols={{ base: 1, xs: 2, sm: 3 }} spacing="xs">
            {SECTIONS.map((name) => (
              <Checkbox key={name} value={name} label={t(`status:sections.${name}`)} description={name} />
            ))}
          </SimpleGrid>
        </Checkbox.Group>
      </FieldGroup>
      <FieldGroup label={hide.label} error={hide.error}>
        <Checkbox.Group aria-label={hide.label} value={hide.value} onChange={hide.onChange}>
          <Stack gap="xs">
            {HIDEABLE_FIELDS.map((name) => (
              <Checkbox key={name} value={name} label={t(`operatorPeople:hidden.${name}`)} />
            ))}
          </Stack>
        </Checkbox.Group>
      </FieldGroup>
      <FieldGroup label={commandsLabel} error={commands.access === "some" ? undefined : form.errors.commands} gap="sm">
        <Radio.Group
          aria-label={commandsLabel}
          value={commands.access}
          onChange={(access) => setCommands({ access: access as CommandAccess })}
        >
          <Stack gap="xs">
            <Radio value="none" label={t("form.commandsNone")} />
            <Radio value="some" label={t("form.commandsSome")} />
            <Radio value="all" label={t("form.all")} description={t("form.commandsAllHint")} />
          </Stack>
        </Radio.Group>
        {commands.access === "some" && (
          <CommandNamesInput
            names={commands.names}
            onChange={(names) => setCommands({ names })}
            typed={commands.typed}
            onType={(typed) => setCommands({ typed })}
            error={form.errors.commands}
          />
        )}
      </FieldGroup>
    </>
  );
}

type RoleRights = Pick<RoleResource, "sections" | "hide" | "commands" | "may">;

const NO_ROLES: readonly RoleResource[] = [];

export function useRoles(): readonly RoleResource[] {
  const admin = useAdmin();
  return useAdminQuery(["roles"], admin.listRoles).value?.items ?? NO_ROLES;
}

/** The roles that the user may give on a server: those that are within their own. The current one stays to be seen. */
export function useGrantableRoles(): (
  serverId: string,
  current: string,
  roles: readonly RoleResource[],
) => readonly RoleResource[] {
  const { person } = useAdminSession();
  const me = useMe(person);
  return (serverId, current, roles) => {
    if (!me || me.is_operator) return roles;
    const name = me.servers.find(({ server_id: id }) => id === serverId)?.role;
    const own = roles.find((role) => role.name === name);
    return roles.filter((role) => role.name === current || (own && isWithin(toRights(role), toRights(own))));
  };
}

function toRights({ sections, hide, commands, may }: RoleRights): Rights {
  return { sections: toSectionSet(sections), hide: toHiddenSet(hide), commands, may: toAbilitySet(may) };
}

/** With `isBrief` in one small paragraph. */
export function RoleWords({
  role,
  isBrief = false,
}: {
  readonly role: RoleRights | undefined;
  readonly isBrief?: boolean;
}) {
  const describe = useRoleSentences();
  if (!role) return null;
  const sentences = describe(role);
  if (isBrief) {
    return (
      <Text size="sm" c="dimmed" className="untrusted">
        {sentences.join(" ")}
      </Text>
    );
  }
  return (
    <List size="sm" spacing={2} className="untrusted">
      {sentences.map((sentence) => (
        <List.Item key={sentence}>{sentence}</List.Item>
      ))}
    </List>
  );
}

function useRoleSentences(): (role: RoleRights) => readonly string[] {
  const { t, i18n } = useTranslation(["operatorPeople", "status"]);
  const join = (names: readonly string[]) => new Intl.ListFormat(i18n.language).format(names);
  return ({ sections, hide, commands, may }) => {
    const nameSections = (names: readonly (typeof SECTIONS)[number][]) =>
      join(names.map((name) => t(`status:sections.${name}`)));
    const missing = SECTIONS.filter((name) => !sections.includes(name));
    const reads =
      missing.length === 0
        ? t("words.readsAll")
        : sections.length === 0
          ? t("words.readsNone")
          : missing.length <= sections.length / 2
            ? t("words.readsBut", { list: nameSections(missing) })
            : t("words.reads", { list: nameSections(sections) });
    const sends = commands.includes("*")
      ? t("words.sendsAll")
      : commands.length === 0
        ? t("words.sendsNone")
        : t("words.sends", { list: join(commands.map(markInvisible)) });
    return [
      reads,
      ...(hide.length > 0 ? [t("words.hides", { list: join(hide.map((field) => t(`hidden.${field}`))) })] : []),
      sends,
      may.length === 0
        ? t("words.mayNone")
        : t("words.may", { list: join(may.map((ability) => t(`ability.${ability}`))) }),
    ];
  };
}
