// The form that creates or edits a key: its server, label and rights, and their way from a key and into the body of a request.
import { Checkbox, NativeSelect, SimpleGrid, Stack, Textarea, TextInput } from "@mantine/core";
import { useRef } from "react";
import { useTranslation } from "react-i18next";
import { VERSIONS, type Version } from "../../../../core/keys/api-key.ts";
import { describeRights, HIDEABLE_FIELDS, KEY_ABILITIES } from "../../../../core/keys/rights.ts";
import { FIRST_ROLES } from "../../../../core/people/role.ts";
import { SECTIONS, type Section } from "../../../../core/sections.ts";
import type { KeyResource } from "../../../../core/wire/key.ts";
import type { ServerResource } from "../../../../core/wire/server.ts";
import { type ApiFormOptions, FieldGroup, FormFrame, useApiForm } from "../form.tsx";
import { Hint } from "../layout.tsx";
import { listServerOptions } from "../list-frame.tsx";
import { RightsFields, type RightsValues, toCommandNames, toRightsValues } from "../rights-fields.tsx";

export type KeyFormValues = RightsValues & {
  readonly server_id: string;
  readonly label: string;
  readonly versions: readonly string[];
  readonly may: readonly string[];
  readonly ip_allow: string;
  /** The value of an input of the type datetime-local: local time to the minute, or "". */
  readonly expires_at: string;
};

/** The rights of a new key, in the order in which the details of a key show them. */
export const NEW_RIGHTS = {
  versions: ["v2" as const],
  sections: [...SECTIONS],
  hide: [],
  commands: [],
  may: [],
  ip_allow: [],
  expires_at: null,
};

export function toFormValues(key: Pick<KeyResource, "server_id" | "label" | keyof typeof NEW_RIGHTS>): KeyFormValues {
  return {
    server_id: key.server_id,
    label: key.label,
    versions: key.versions,
    ...toRightsValues(key),
    may: key.may,
    ip_allow: key.ip_allow.join("\n"),
    expires_at: key.expires_at === null ? "" : toLocalInput(key.expires_at),
  };
}

/** An unchanged time becomes another one, because the input has cut off its seconds: compare bodies, not keys. */
export function toBody(values: KeyFormValues) {
  return {
    server_id: values.server_id,
    label: values.label.trim(),
    versions: values.versions as Version[],
    sections: SECTIONS.filter((name) => values.sections.includes(name)) as Section[],
    hide: HIDEABLE_FIELDS.filter((name) => values.hide.includes(name)),
    commands: [...toCommandNames(values.commands)],
    may: KEY_ABILITIES.filter((ability) => values.may.includes(ability)),
    ip_allow: values.ip_allow.split(/[\s,]+/).filter((entry) => entry !== ""),
    expires_at: values.expires_at === "" ? null : new Date(values.expires_at).getTime(),
  };
}

/** Formats a time for an input of the type datetime-local. */
function toLocalInput(ms: number): string {
  const offsetMs = new Date(ms).getTimezoneOffset() * 60_000;
  return new Date(ms - offsetMs).toISOString().slice(0, 16);
}

export function KeyForm<R extends object, T>(
  props: Pick<ApiFormOptions<KeyFormValues, R, T>, "start" | "toBody" | "change" | "onDone"> & {
    /** The servers to choose from; undefined for an existing key, which cannot change its server. */
    readonly servers?: readonly ServerResource[];
    readonly label: string;
    readonly onCancel: () => void;
  },
) {
  const { t } = useTranslation(["operatorKeys", "operatorPeople", "shell"]);
  const { servers } = props;
  const expiresInput = useRef<HTMLInputElement>(null);
  const form = useApiForm("operatorKeys", {
    ...props,
    invalidates: ["keys"],
    validate: (values: KeyFormValues) => ({
      ...(values.commands.access === "some" &&
        toBody(values).commands.length === 0 && { commands: t("form.needsName") }),
      // A half-typed date has an empty value, which means: never expires.
      ...(expiresInput.current?.validity.badInput && { expires_at: t("form.expiresHalf") }),
    }),
  });
  const { field, setFieldValue } = form;
  const versions = field("versions");
  const may = field("may");
  /** Sets the rights of a role, which can still be changed. */
  function takePreset(name: string) {
    const role = FIRST_ROLES.find((one) => one.name === name);
    if (!role) return;
    const { commands, sections, hide } = toRightsValues({ ...describeRights(role), commands: [...role.commands] });
    setFieldValue("commands", commands);
    setFieldValue("sections", sections);
    setFieldValue("hide", hide);
  }
  return (
    <FormFrame form={form} label={props.label} onCancel={props.onCancel} unchanged={t("form.nothingChanged")}>
      {servers && <Hint>{t("forPeople")}</Hint>}
      <TextInput {...field("label")} required data-autofocus />
      {servers && <NativeSelect {...field("server_id")} data={listServerOptions(servers)} required />}
      {servers && (
        <NativeSelect
          label={t("operatorPeople:roles.preset")}
          description={t("operatorPeople:roles.presetHint")}
          defaultValue=""
          onChange={(event) => takePreset(event.currentTarget.value)}
          data={[
            { value: "", label: t("operatorPeople:roles.presetOwn") },
            ...FIRST_ROLES.map(({ name }) => ({ value: name, label: t(`shell:role.${name as "viewer"}`) })),
          ]}
        />
      )}
      <RightsFields form={form} />
      <FieldGroup label={may.label} error={may.error}>
        <Checkbox.Group aria-label={may.label} value={may.value} onChange={may.onChange}>
          {KEY_ABILITIES.map((ability) => (
            <Checkbox
              key={ability}
              value={ability}
              label={t(`operatorPeople:ability.${ability}`)}
              description={may.description}
            />
          ))}
        </Checkbox.Group>
      </FieldGroup>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <Textarea
          {...field("ip_allow")}
          rows={3}
          autoCapitalize="off"
          spellCheck={false}
          styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
        />
        <TextInput {...field("expires_at")} ref={expiresInput} type="datetime-local" />
      </SimpleGrid>
      <FieldGroup label={versions.label} error={versions.error}>
        <Checkbox.Group aria-label={versions.label} value={versions.value} onChange={versions.onChange}>
          <Stack gap="xs">
            {VERSIONS.toReversed().map((version) => (
              <Checkbox
                key={version}
                value={version}
                label={version}
                description={version === "v1" ? t("form.v1Hint") : undefined}
              />
            ))}
          </Stack>
        </Checkbox.Group>
      </FieldGroup>
    </FormFrame>
  );
}
