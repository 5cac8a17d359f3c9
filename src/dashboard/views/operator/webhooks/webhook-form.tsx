// The form that creates or edits a webhook: its server, address, format and events, and their way from a webhook and into
// the body of a request.
import {
  Box,
  Checkbox,
  Fieldset,
  Group,
  NativeSelect,
  PasswordInput,
  Radio,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from "@mantine/core";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { EVENT_TYPES, type EventType } from "../../../../core/events/event-types.ts";
import { WEBHOOK_LANGUAGES, type WebhookFormat, type WebhookLanguage } from "../../../../core/webhooks/webhook.ts";
import type { ServerResource } from "../../../../core/wire/server.ts";
import type { NewWebhook, WebhookResource } from "../../../../core/wire/webhook.ts";
import { type ApiFormOptions, FormFrame, Reason, useApiForm } from "../form.tsx";
import { listServerOptions } from "../list-frame.tsx";
import {
  judgeGroup,
  readTypes,
  TYPE_GROUPS,
  type TypeGroup,
  toggleTypes,
  USUAL_TYPES,
  writeTypes,
} from "./webhook-types.ts";
import { useTypeNames } from "./webhook-words.tsx";

/** Most communities have a channel and no program of their own. */
const FORMATS: readonly WebhookFormat[] = ["discord", "discord-status", "standard"];
const COLUMNS_STYLE = { columns: "3 12rem", columnGap: "1.5rem" };

export type WebhookFormValues = {
  readonly server_id: string;
  readonly label: string;
  /** Empty keeps the address of an existing webhook. */
  readonly url: string;
  readonly format: WebhookFormat;
  /** `chosen` is used unless everything is sent. */
  readonly types: { readonly isEverything: boolean; readonly chosen: readonly EventType[] };
  readonly language: WebhookLanguage;
  readonly show_join_key: boolean;
};

export function startValues(serverId: string, language: WebhookLanguage): WebhookFormValues {
  const types = { isEverything: false, chosen: USUAL_TYPES };
  return { server_id: serverId, label: "", url: "", format: "discord", types, language, show_join_key: false };
}

export function toFormValues(webhook: WebhookResource): WebhookFormValues {
  const { server_id, label, format, types, language, show_join_key } = webhook;
  const chosen = types === null ? USUAL_TYPES : readTypes(types);
  return {
    server_id,
    label,
    url: "",
    format,
    types: { isEverything: types === null, chosen },
    language,
    show_join_key,
  };
}

/** Whether events are chosen; a status message has none. */
export function hasTypes({ format }: Pick<WebhookFormValues, "format">): boolean {
  return format !== "discord-status";
}

/** Whether Gatehouse writes the messages itself, in a language. */
export function isWritten({ format }: Pick<WebhookFormValues, "format">): boolean {
  return format !== "standard";
}

/** The settings that the format uses, in the order in which the page of a webhook shows them. */
export function listSettings(webhook: Pick<WebhookFormValues, "format">) {
  const types = hasTypes(webhook) ? (["types"] as const) : [];
  const written = isWritten(webhook) ? (["language", "show_join_key"] as const) : [];
  return ["server_id", "format", "url", ...types, ...written] as const;
}

/** Only what the format uses. */
export function toBody(values: WebhookFormValues): NewWebhook {
  const { server_id, format, language, show_join_key } = values;
  const { isEverything, chosen } = values.types;
  const isAll = isEverything || EVENT_TYPES.every((type) => chosen.includes(type));
  return {
    server_id,
    label: values.label.trim(),
    url: values.url.trim(),
    format,
    ...(hasTypes(values) && { types: isAll ? null : [...writeTypes(chosen)] }),
    ...(isWritten(values) && { language, show_join_key }),
  };
}

export function WebhookForm<R extends object, T>(
  props: Pick<ApiFormOptions<WebhookFormValues, R, T>, "start" | "toBody" | "change" | "onDone"> & {
    /** The servers to choose from, for a new webhook. */
    readonly servers?: readonly ServerResource[];
    /** The existing webhook, which keeps its server and its format. */
    readonly webhook?: WebhookResource;
    readonly label: string;
    readonly onCancel: () => void;
  },
) {
  const { t } = useTranslation(["operatorWebhooks", "operator"]);
  const { servers, webhook } = props;
  const form = useApiForm("operatorWebhooks", {
    ...props,
    invalidates: ["webhooks"],
    validate: (given: WebhookFormValues) =>
      hasTypes(given) && !given.types.isEverything && given.types.chosen.length === 0
        ? { types: t("form.needsType") }
        : {},
  });
  const { field, setFieldValue, values } = form;
  const address = webhook
    ? { label: t("form.newAddress"), description: t("form.newAddressHint", { url: webhook.url }) }
    : { description: t(isWritten(values) ? "form.discordHint" : "form.addressHint") };
  return (
    <FormFrame form={form} label={props.label} onCancel={props.onCancel} unchanged={t("form.nothingChanged")}>
      <SimpleGrid cols={{ base: 1, sm: servers ? 2 : 1 }}>
        <TextInput {...field("label")} required data-autofocus />
        {servers && <NativeSelect {...field("server_id")} data={listServerOptions(servers)} required />}
      </SimpleGrid>
      {!webhook && (
        <Fieldset legend={t("operator:fields.format")}>
          <Radio.Group
            aria-label={t("operator:fields.format")}
            value={values.format}
            onChange={(format) => setFieldValue("format", format as WebhookFormat)}
          >
            <Stack gap="sm">
              {FORMATS.map((format) => (
                <Radio
                  key={format}
                  value={format}
                  label={t(`format.${format}`)}
                  description={t(`formatHint.${format}`)}
                />
              ))}
            </Stack>
          </Radio.Group>
        </Fieldset>
      )}
      <PasswordInput
        {...field("url")}
        {...address}
        // Mantine sets it on other inputs only.
        aria-invalid={form.errors.url === undefined ? undefined : true}
        required={!webhook}
        autoComplete="off"
        spellCheck={false}
        inputMode="url"
        visibilityToggleButtonProps={{ "aria-label": t("form.showAddress"), tabIndex: 0 }}
      />
      {hasTypes(values) && (
        <TypesChoice
          {...values.types}
          onChange={(change) => setFieldValue("types", (old) => ({ ...old, ...change }))}
          error={form.errors.types}
        />
      )}
      {isWritten(values) && (
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <NativeSelect
            {...field("language")}
            data={WEBHOOK_LANGUAGES.map((value) => ({ value, label: t(`language.${value}`) }))}
          />
          <Checkbox {...field("show_join_key", "checkbox")} />
        </SimpleGrid>
      )}
    </FormFrame>
  );
}

function TypesChoice(
  props: WebhookFormValues["types"] & {
    readonly onChange: (change: Partial<WebhookFormValues["types"]>) => void;
    readonly error: ReactNode;
  },
) {
  const { t } = useTranslation(["operatorWebhooks", "operator"]);
  const { isEverything, chosen, error, onChange } = props;
  return (
    <Fieldset legend={t("operator:fields.types")} data-wrong={error === undefined ? undefined : true}>
      <Stack gap="sm">
        <Radio.Group
          aria-label={t("operator:fields.types")}
          value={isEverything ? "all" : "some"}
          onChange={(value) => onChange({ isEverything: value === "all" })}
        >
          <Group gap="lg">
            <Radio value="all" label={t("form.all")} />
            <Radio value="some" label={t("form.some")} />
          </Group>
        </Radio.Group>
        <Reason>{error}</Reason>
        {!isEverything && (
          <Box style={COLUMNS_STYLE}>
            {TYPE_GROUPS.map(([group, types]) => (
              <TypeGroupChoice
                key={group}
                group={group}
                types={types}
                chosen={chosen}
                onChange={(changed) => onChange({ chosen: changed })}
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
