// The forms that create and edit a key: its server, label and rights. An edit sends only what was changed.
import {
  Button,
  Checkbox,
  Fieldset,
  Group,
  NativeSelect,
  Radio,
  SimpleGrid,
  Stack,
  Text,
  Textarea,
  TextInput,
} from "@mantine/core";
import { type FormEvent, type ReactNode, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Version } from "../../../core/api-key.ts";
import { SECTIONS } from "../../../core/sections.ts";
import type { KeyResource, KeyUpdate, KeyWithToken, NewKey } from "../../../core/wire/key.ts";
import type { ServerResource } from "../../../core/wire/server.ts";
import type { ApiError } from "../../api/request.ts";
import { DialogButtons } from "../../parts/dialog.tsx";
import { markInvisible } from "../../parts/game-text.tsx";
import { useAdmin, useAdminChange } from "../../state/use-admin.ts";
import { FormError, useFieldReasons, useFocusFirstInvalid, useMendedFields } from "./change.tsx";
import { CommandNamesInput } from "./command-names-input.tsx";
import {
  type CommandAccess,
  findChanges,
  type KeyFormValues,
  toFormValues,
  toRights,
} from "./key-form-values.ts";

const VERSIONS: readonly Version[] = ["v2", "v1"];
const FIELDS = ["server_id", "label", "versions", "sections", "commands", "ip_allow", "expires_at"];

/** The field of the API that each value of the form is for. */
const FIELD_OF: Readonly<Record<keyof KeyFormValues, string>> = {
  serverId: "server_id",
  label: "label",
  versions: "versions",
  sections: "sections",
  commandAccess: "commands",
  commandNames: "commands",
  typedName: "commands",
  addresses: "ip_allow",
  expiresAt: "expires_at",
};

export function CreateKeyForm(props: {
  readonly servers: readonly ServerResource[];
  readonly serverId: string | undefined;
  readonly onCancel: () => void;
  readonly onDone: (created: KeyWithToken) => void;
}) {
  const { t } = useTranslation("operatorKeys");
  const admin = useAdmin();
  const { run, isRunning, error } = useAdminChange(admin.createKey, ["keys"]);
  const first = props.serverId ?? props.servers[0]?.server_id ?? "";
  async function submit(values: KeyFormValues) {
    const body: NewKey = { server_id: values.serverId, label: values.label.trim(), ...toRights(values) };
    const created = await run(body);
    if (created) props.onDone(created);
  }
  return (
    <KeyForm
      start={{
        serverId: first,
        label: "",
        versions: ["v2"],
        sections: SECTIONS,
        commandAccess: "none",
        commandNames: [],
        typedName: "",
        addresses: "",
        expiresAt: "",
      }}
      servers={props.servers}
      error={error}
      isRunning={isRunning}
      submitLabel={t("createAction")}
      onCancel={props.onCancel}
      onSubmit={(values) => void submit(values)}
    />
  );
}

export function EditKeyForm(props: {
  readonly apiKey: KeyResource;
  readonly onCancel: () => void;
  readonly onDone: (key: KeyResource) => void;
}) {
  const { t } = useTranslation("operatorKeys");
  const admin = useAdmin();
  const { apiKey } = props;
  const [isUnchanged, setUnchanged] = useState(false);
  const { run, isRunning, error } = useAdminChange(
    (change: KeyUpdate) => admin.changeKey(apiKey.key_id, change),
    ["keys"],
  );
  const start = toFormValues(apiKey);
  async function submit(values: KeyFormValues) {
    const change = findChanges(start, values);
    setUnchanged(Object.keys(change).length === 0);
    if (Object.keys(change).length === 0) return;
    const changed = await run(change);
    if (changed) props.onDone(changed);
  }
  return (
    <KeyForm
      start={start}
      error={error}
      isRunning={isRunning}
      submitLabel={t("save")}
      note={isUnchanged ? t("form.nothingChanged") : undefined}
      onCancel={props.onCancel}
      onSubmit={(values) => void submit(values)}
    />
  );
}

function KeyForm(props: {
  readonly start: KeyFormValues;
  /** The servers to choose from; undefined for an existing key, which cannot change its server. */
  readonly servers?: readonly ServerResource[];
  readonly error: ApiError | undefined;
  readonly isRunning: boolean;
  readonly submitLabel: string;
  readonly note?: string | undefined;
  readonly onCancel: () => void;
  readonly onSubmit: (values: KeyFormValues) => void;
}) {
  const { t } = useTranslation(["operatorKeys", "status"]);
  const { servers } = props;
  const [values, setValues] = useState(props.start);
  const [inputErrors, setInputErrors] = useState<Readonly<Record<string, string>>>();
  const expiresInput = useRef<HTMLInputElement>(null);
  const error = inputErrors ? undefined : props.error;
  const reasonFor = useFieldReasons(error);
  const { isMended, mend } = useMendedFields(inputErrors ?? error);
  const reasonOf = (field: string) =>
    isMended(field) ? undefined : (inputErrors?.[field] ?? reasonFor(field));
  const form = useFocusFirstInvalid(inputErrors ?? error);
  /** Every change is of one field of the API. */
  const set = (change: Partial<KeyFormValues>) => {
    setValues((old) => ({ ...old, ...change }));
    for (const name of Object.keys(change) as (keyof KeyFormValues)[]) mend(FIELD_OF[name]);
  };

  /** Finds mistakes that the API cannot see, because it would accept the values with another meaning. */
  function findInputErrors() {
    return {
      ...(values.commandAccess === "some" &&
        toRights(values).commands.length === 0 && { commands: t("form.needsName") }),
      // A half-typed date has an empty value, which means: never expires.
      ...(expiresInput.current?.validity.badInput && { expires_at: t("form.expiresHalf") }),
    };
  }
  function submit(event: FormEvent) {
    event.preventDefault();
    const found = findInputErrors();
    const isWrong = Object.keys(found).length > 0;
    setInputErrors(isWrong ? found : undefined);
    if (!isWrong) props.onSubmit(values);
  }

  return (
    <form ref={form} noValidate onSubmit={submit}>
      <Stack gap="md">
        <TextInput
          label={t("form.label")}
          description={t("form.labelHint")}
          value={values.label}
          onChange={(event) => set({ label: event.currentTarget.value })}
          error={reasonOf("label")}
          required
          data-autofocus
        />
        {servers && (
          <NativeSelect
            label={t("server")}
            value={values.serverId}
            onChange={(event) => set({ serverId: event.currentTarget.value })}
            data={servers.map(({ server_id: value, name }) => ({ value, label: markInvisible(name) }))}
            error={reasonOf("server_id")}
            required
          />
        )}
        <Fieldset legend={t("form.sections")} data-wrong={reasonOf("sections") && true}>
          <Stack gap="xs">
            <Group justify="space-between" gap="xs">
              <Text size="sm" c="dimmed" flex="1 1 12rem">
                {t("form.sectionsHint")}
              </Text>
              <Group gap="xs">
                <Button size="compact-sm" variant="light" onClick={() => set({ sections: SECTIONS })}>
                  {t("form.all")}
                </Button>
                <Button size="compact-sm" variant="light" onClick={() => set({ sections: [] })}>
                  {t("form.none")}
                </Button>
              </Group>
            </Group>
            <Checkbox.Group
              aria-label={t("form.sections")}
              value={[...values.sections]}
              onChange={(sections) => set({ sections })}
            >
              <SimpleGrid cols={{ base: 1, xs: 2, sm: 3 }} spacing="xs">
                {SECTIONS.map((name) => (
                  <Checkbox key={name} value={name} label={t(`status:sections.${name}`)} description={name} />
                ))}
              </SimpleGrid>
            </Checkbox.Group>
            <Reason>{reasonOf("sections")}</Reason>
          </Stack>
        </Fieldset>
        <Fieldset
          legend={t("form.commands")}
          data-wrong={values.commandAccess !== "some" && reasonOf("commands") ? true : undefined}
        >
          <Stack gap="sm">
            <Radio.Group
              aria-label={t("form.commands")}
              value={values.commandAccess}
              onChange={(value) => set({ commandAccess: value as CommandAccess })}
            >
              <Stack gap="xs">
                <Radio value="none" label={t("form.commandsNone")} />
                <Radio value="some" label={t("form.commandsSome")} />
                <Radio value="all" label={t("form.commandsAll")} description={t("form.commandsAllHint")} />
              </Stack>
            </Radio.Group>
            {values.commandAccess === "some" && (
              <CommandNamesInput
                names={values.commandNames}
                onChange={(commandNames) => set({ commandNames })}
                typed={values.typedName}
                onType={(typedName) => set({ typedName })}
                error={reasonOf("commands")}
              />
            )}
            {values.commandAccess !== "some" && <Reason>{reasonOf("commands")}</Reason>}
          </Stack>
        </Fieldset>
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <Textarea
            label={t("form.ipAllow")}
            description={t("form.ipAllowHint")}
            value={values.addresses}
            onChange={(event) => set({ addresses: event.currentTarget.value })}
            error={reasonOf("ip_allow")}
            rows={3}
            autoCapitalize="off"
            spellCheck={false}
            styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
          />
          <TextInput
            ref={expiresInput}
            type="datetime-local"
            label={t("form.expires")}
            description={t("form.expiresHint")}
            value={values.expiresAt}
            onChange={(event) => set({ expiresAt: event.currentTarget.value })}
            error={reasonOf("expires_at")}
          />
        </SimpleGrid>
        <Fieldset legend={t("form.versions")} data-wrong={reasonOf("versions") && true}>
          <Checkbox.Group
            aria-label={t("form.versions")}
            value={[...values.versions]}
            onChange={(versions) => set({ versions })}
          >
            <Stack gap="xs">
              {VERSIONS.map((version) => (
                <Checkbox
                  key={version}
                  value={version}
                  label={version}
                  description={version === "v1" ? t("form.v1Hint") : undefined}
                />
              ))}
            </Stack>
          </Checkbox.Group>
          <Reason>{reasonOf("versions")}</Reason>
        </Fieldset>
        <FormError error={error} fields={FIELDS} />
        <Text size="sm" role="status" ta="right">
          {props.note}
        </Text>
        <DialogButtons label={props.submitLabel} isRunning={props.isRunning} onCancel={props.onCancel} />
      </Stack>
    </form>
  );
}

function Reason({ children }: { readonly children: ReactNode }) {
  if (children === undefined) return null;
  return (
    <Text size="sm" c="var(--mantine-color-error)" role="alert">
      {children}
    </Text>
  );
}
