// The forms that create and edit a webhook: its server, address, format and events. An edit sends only what was changed.
import {
  Box,
  Checkbox,
  Fieldset,
  Group,
  NativeSelect,
  PasswordInput,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from "@mantine/core";
import { type FormEvent, useId, useState } from "react";
import { useTranslation } from "react-i18next";
import type { EventType } from "../../../core/events/event-types.ts";
import {
  WEBHOOK_LANGUAGES,
  type WebhookFormat,
  type WebhookLanguage,
} from "../../../core/webhooks/webhook.ts";
import type { ServerResource } from "../../../core/wire/server.ts";
import type { WebhookResource, WebhookUpdate, WebhookWithSecret } from "../../../core/wire/webhook.ts";
import type { ApiError } from "../../api/request.ts";
import { toLanguage } from "../../i18n.ts";
import { DialogButtons } from "../../parts/dialog.tsx";
import { markInvisible } from "../../parts/game-text.tsx";
import { useAdmin, useAdminChange } from "../../state/use-admin.ts";
import { FormError, useFieldReasons, useFocusFirstInvalid, useMendedFields } from "./change.tsx";
import {
  findChanges,
  hasTypes,
  isWritten,
  startValues,
  toFormValues,
  toNewWebhook,
  type WebhookFormValues,
} from "./webhook-form-values.ts";
import { findAddressProblem, isFull } from "./webhook-state.ts";
import { judgeGroup, TYPE_GROUPS, type TypeGroup, toggleTypes } from "./webhook-types.ts";
import { useTypeNames } from "./webhook-words.ts";

/** Most communities have a channel and no program of their own. */
const FORMATS: readonly WebhookFormat[] = ["discord", "discord-status", "standard"];
const RADIO_STYLE = {
  flex: "none",
  width: "1.25rem",
  height: "1.25rem",
  margin: 0,
  accentColor: "var(--mantine-primary-color-filled)",
};
const COLUMNS_STYLE = { columns: "3 12rem", columnGap: "1.5rem" };
const FIELDS = ["server_id", "label", "url", "types", "language", "show_join_key"];

/** The field of the API that each value of the form is for. */
const FIELD_OF: Readonly<Record<keyof WebhookFormValues, string>> = {
  serverId: "server_id",
  label: "label",
  url: "url",
  format: "format",
  isEverything: "types",
  types: "types",
  language: "language",
  showsJoinKey: "show_join_key",
};

export function CreateWebhookForm(props: {
  readonly servers: readonly ServerResource[];
  readonly serverId: string | undefined;
  readonly onCancel: () => void;
  readonly onDone: (created: WebhookWithSecret) => void;
}) {
  const { t, i18n } = useTranslation("operatorWebhooks");
  const admin = useAdmin();
  const { run, isRunning, error } = useAdminChange(admin.createWebhook, ["webhooks"]);
  const first = props.serverId ?? props.servers[0]?.server_id ?? "";
  async function submit(values: WebhookFormValues) {
    const created = await run(toNewWebhook(values));
    if (created) props.onDone(created);
  }
  return (
    <WebhookForm
      start={startValues(first, toLanguage(i18n.language) ?? "en")}
      servers={props.servers}
      error={error}
      isRunning={isRunning}
      submitLabel={t("createAction")}
      onCancel={props.onCancel}
      onSubmit={(values) => void submit(values)}
    />
  );
}

export function EditWebhookForm(props: {
  readonly webhook: WebhookResource;
  readonly onCancel: () => void;
  readonly onDone: (webhook: WebhookResource) => void;
}) {
  const { t } = useTranslation("operatorWebhooks");
  const admin = useAdmin();
  // What is polled meanwhile must not change what the form compares with.
  const [webhook] = useState(props.webhook);
  const [isUnchanged, setUnchanged] = useState(false);
  const { run, isRunning, error } = useAdminChange(
    (change: WebhookUpdate) => admin.changeWebhook(webhook.webhook_id, change),
    ["webhooks"],
  );
  async function submit(values: WebhookFormValues) {
    const change = findChanges(webhook, values);
    setUnchanged(Object.keys(change).length === 0);
    if (Object.keys(change).length === 0) return;
    const changed = await run(change);
    if (changed) props.onDone(changed);
  }
  return (
    <WebhookForm
      start={toFormValues(webhook)}
      webhook={webhook}
      error={error}
      isRunning={isRunning}
      submitLabel={t("save")}
      note={isUnchanged ? t("form.nothingChanged") : undefined}
      onCancel={props.onCancel}
      onSubmit={(values) => void submit(values)}
    />
  );
}

function WebhookForm(props: {
  readonly start: WebhookFormValues;
  /** The servers to choose from, for a new webhook. */
  readonly servers?: readonly ServerResource[];
  /** The existing webhook, which keeps its server and its format. */
  readonly webhook?: WebhookResource;
  readonly error: ApiError | undefined;
  readonly isRunning: boolean;
  readonly submitLabel: string;
  readonly note?: string | undefined;
  readonly onCancel: () => void;
  readonly onSubmit: (values: WebhookFormValues) => void;
}) {
  const { t } = useTranslation("operatorWebhooks");
  const { servers, webhook } = props;
  const [values, setValues] = useState(props.start);
  const [inputErrors, setInputErrors] = useState<Readonly<Record<string, string>>>();
  const error = inputErrors ? undefined : props.error;
  const reasonFor = useFieldReasons(error);
  const { isMended, mend } = useMendedFields(inputErrors ?? error);
  const form = useFocusFirstInvalid(inputErrors ?? error);
  const reasonOf = (field: string) =>
    isMended(field) ? undefined : (inputErrors?.[field] ?? reasonFor(field));
  const urlReason = reasonOf("url");
  const urlProblem = urlReason === undefined ? undefined : findAddressProblem(urlReason);
  const set = (change: Partial<WebhookFormValues>) => {
    setValues((old) => ({ ...old, ...change }));
    for (const name of Object.keys(change) as (keyof WebhookFormValues)[]) mend(FIELD_OF[name]);
  };
  function submit(event: FormEvent) {
    event.preventDefault();
    const isWrong = hasTypes(values) && !values.isEverything && values.types.length === 0;
    setInputErrors(isWrong ? { types: t("form.needsType") } : undefined);
    if (!isWrong) props.onSubmit(values);
  }
  return (
    <form ref={form} noValidate onSubmit={submit}>
      <Stack gap="md">
        <SimpleGrid cols={{ base: 1, sm: servers ? 2 : 1 }}>
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
              description={t("form.serverHint")}
              value={values.serverId}
              onChange={(event) => set({ serverId: event.currentTarget.value })}
              data={servers.map(({ server_id: value, name }) => ({ value, label: markInvisible(name) }))}
              error={isFull(reasonOf("server_id")) ? t("full") : reasonOf("server_id")}
              required
            />
          )}
        </SimpleGrid>
        {!webhook && <FormatChoice value={values.format} onChange={(format) => set({ format })} />}
        <PasswordInput
          label={t(webhook ? "form.newAddress" : "form.address")}
          description={
            webhook
              ? t("form.newAddressHint", { url: webhook.url })
              : t(isWritten(values) ? "form.discordHint" : "form.addressHint")
          }
          value={values.url}
          onChange={(event) => set({ url: event.currentTarget.value })}
          error={urlProblem === undefined ? urlReason : t(`address.${urlProblem}`)}
          // Mantine sets it on other inputs only.
          aria-invalid={urlReason === undefined ? undefined : true}
          required={!webhook}
          autoComplete="off"
          spellCheck={false}
          inputMode="url"
          visibilityToggleButtonProps={{ "aria-label": t("form.showAddress"), tabIndex: 0 }}
        />
        {hasTypes(values) && (
          <TypesChoice
            isEverything={values.isEverything}
            types={values.types}
            onChange={set}
            error={reasonOf("types")}
          />
        )}
        {isWritten(values) && (
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            <NativeSelect
              label={t("form.language")}
              value={values.language}
              onChange={(event) => set({ language: event.currentTarget.value as WebhookLanguage })}
              data={WEBHOOK_LANGUAGES.map((value) => ({ value, label: t(`language.${value}`) }))}
              error={reasonOf("language")}
            />
            <Checkbox
              label={t("form.showJoinKey")}
              description={t("form.showJoinKeyHint")}
              checked={values.showsJoinKey}
              onChange={(event) => set({ showsJoinKey: event.currentTarget.checked })}
              error={reasonOf("show_join_key")}
            />
          </SimpleGrid>
        )}
        <FormError error={error} fields={FIELDS} />
        <Text size="sm" role="status" ta="right">
          {props.note}
        </Text>
        <DialogButtons label={props.submitLabel} isRunning={props.isRunning} onCancel={props.onCancel} />
      </Stack>
    </form>
  );
}

function FormatChoice(props: {
  readonly value: WebhookFormat;
  readonly onChange: (format: WebhookFormat) => void;
}) {
  const { t } = useTranslation("operatorWebhooks");
  const name = useId();
  return (
    <Fieldset legend={t("form.format")}>
      <Stack gap="sm">
        {FORMATS.map((format) => (
          <Choice
            key={format}
            name={name}
            label={t(`format.${format}`)}
            description={t(`formatHint.${format}`)}
            isChosen={props.value === format}
            onChoose={() => props.onChange(format)}
          />
        ))}
      </Stack>
    </Fieldset>
  );
}

/** A plain radio button: Mantine's is in the file of another view, and two views would make the page load it at once. */
function Choice(props: {
  readonly name: string;
  readonly label: string;
  readonly description?: string;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}) {
  const id = useId();
  return (
    <Group gap="sm" wrap="nowrap" align="flex-start">
      <input
        type="radio"
        id={id}
        name={props.name}
        checked={props.isChosen}
        onChange={props.onChoose}
        aria-describedby={props.description === undefined ? undefined : `${id}-description`}
        style={RADIO_STYLE}
      />
      <Stack gap={2}>
        <Text component="label" size="sm" htmlFor={id}>
          {props.label}
        </Text>
        {props.description !== undefined && (
          <Text size="xs" c="dimmed" id={`${id}-description`}>
            {props.description}
          </Text>
        )}
      </Stack>
    </Group>
  );
}

function TypesChoice(props: {
  readonly isEverything: boolean;
  readonly types: readonly EventType[];
  readonly onChange: (
    change: Pick<WebhookFormValues, "isEverything"> | Pick<WebhookFormValues, "types">,
  ) => void;
  readonly error: string | undefined;
}) {
  const { t } = useTranslation("operatorWebhooks");
  const { isEverything, types, error } = props;
  const name = useId();
  return (
    <Fieldset legend={t("form.types")} data-wrong={error === undefined ? undefined : true}>
      <Stack gap="sm">
        <Group gap="lg">
          {[true, false].map((isAll) => (
            <Choice
              key={String(isAll)}
              name={name}
              label={t(isAll ? "form.all" : "form.some")}
              isChosen={isEverything === isAll}
              onChoose={() => props.onChange({ isEverything: isAll })}
            />
          ))}
        </Group>
        {error !== undefined && (
          <Text size="sm" c="var(--mantine-color-error)" role="alert">
            {error}
          </Text>
        )}
        {!isEverything && (
          <Box style={COLUMNS_STYLE}>
            {TYPE_GROUPS.map(([group, own]) => (
              <TypeGroupChoice
                key={group}
                group={group}
                types={own}
                chosen={types}
                onChange={(changed) => props.onChange({ types: changed })}
              />
            ))}
          </Box>
        )}
        <Text size="xs" c="dimmed">
          {t("form.typesHint")}
        </Text>
      </Stack>
    </Fieldset>
  );
}

/** The group as a whole, and each of its types where there are several. */
function TypeGroupChoice(props: {
  readonly group: TypeGroup;
  readonly types: readonly EventType[];
  readonly chosen: readonly EventType[];
  readonly onChange: (chosen: readonly EventType[]) => void;
}) {
  const { types, chosen } = props;
  const { nameGroup, nameType } = useTypeNames();
  const name = nameGroup(props.group);
  const state = judgeGroup(types, chosen);
  return (
    <Stack gap={6} mb="sm" role="group" aria-label={name} style={{ breakInside: "avoid" }}>
      <Checkbox
        label={name}
        fw={600}
        checked={state === "all"}
        indeterminate={state === "some"}
        onChange={() => props.onChange(toggleTypes(types, chosen, state !== "all"))}
      />
      {types.length > 1 &&
        types.map((type) => (
          <Checkbox
            key={type}
            size="xs"
            pl="lg"
            label={nameType(type)}
            checked={chosen.includes(type)}
            onChange={(event) => props.onChange(toggleTypes([type], chosen, event.currentTarget.checked))}
          />
        ))}
    </Stack>
  );
}
