// The form that adds or edits a server. A server key can be set but is never shown.
import { Checkbox, PasswordInput, Text, TextInput } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { ServerResource } from "../../../../core/wire/server.ts";
import { useAdmin, useAdminRights } from "../../../state/session/use-admin.ts";
import { FormFrame, useApiForm } from "../form.tsx";

const PLAIN = { autoCapitalize: "off", spellCheck: false } as const;

export function ServerForm(props: {
  /** Undefined for a new server. */
  readonly server?: ServerResource;
  readonly onCancel: () => void;
  readonly onDone: (server: ServerResource) => void;
}) {
  const { t } = useTranslation(["operatorServers", "operator"]);
  const admin = useAdmin();
  const { isOperator } = useAdminRights();
  const { server } = props;
  const form = useApiForm("operatorServers", {
    start: {
      name: server?.name ?? "",
      community: server?.community ?? "",
      server_key: "",
      watch: server?.watch ?? true,
      owners_sign_in: server?.owners_sign_in ?? false,
      public_status: server?.public_status?.slug ?? "",
      show_join_key: server?.public_status?.show_join_key ?? false,
    },
    toBody: ({ name, community, server_key: key, watch, owners_sign_in, public_status: slug, show_join_key }) => ({
      name: name.trim(),
      community: community.trim() || null,
      server_key: key.trim(),
      watch,
      owners_sign_in,
      public_status: slug.trim() === "" ? null : { slug: slug.trim(), show_join_key },
    }),
    change(body) {
      if (!server) return admin.createServer(body);
      const { server_key: newKey, ...rest } = body;
      const { name, public_status } = body;
      if (!isOperator) return admin.changeServer(server.server_id, { name, public_status });
      return admin.changeServer(server.server_id, newKey === "" ? rest : body);
    },
    invalidates: ["servers"],
    onDone: props.onDone,
  });
  const { field } = form;
  const newKey = server && { label: t("newServerKey"), description: t("newServerKeyHint") };
  return (
    <FormFrame form={form} label={t(server ? "operator:save" : "create")} onCancel={props.onCancel}>
      <TextInput {...field("name")} required data-autofocus />
      {isOperator && <TextInput {...field("community")} {...PLAIN} />}
      {isOperator && (
        <PasswordInput
          {...field("server_key")}
          {...newKey}
          required={!server}
          autoComplete="off"
          visible={false}
          visibilityToggleButtonProps={{ style: { display: "none" } }}
        />
      )}
      {isOperator && <Checkbox {...field("watch", "checkbox")} />}
      {isOperator && <Checkbox {...field("owners_sign_in", "checkbox")} />}
      <TextInput
        {...field("public_status")}
        {...PLAIN}
        leftSection={<Text size="sm">/status/</Text>}
        leftSectionWidth={66}
      />
      {form.values.public_status.trim() !== "" && <Checkbox {...field("show_join_key", "checkbox")} />}
    </FormFrame>
  );
}
