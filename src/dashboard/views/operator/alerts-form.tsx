// Shows and sets the alert rules of a server.
import { Alert, Button, Checkbox, Group, InputBase, Stack, Text, TextInput } from "@mantine/core";
import { type ChangeEvent, type FormEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import { ALERT_RULES, type AlertRule, NO_ALERTS, SUGGESTED_ALERTS } from "../../../core/alerts/rules.ts";
import { ERRORS } from "../../../core/errors.ts";
import type { AlertRulesResource } from "../../../core/wire/alerts.ts";
import type { ServerResource } from "../../../core/wire/server.ts";
import { DialogButtons } from "../../parts/dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { NamedSentence } from "../../parts/name-text.tsx";
import { LoadingState } from "../../parts/states.tsx";
import { useAdmin, useAdminChange, useAdminQuery } from "../../state/use-admin.ts";
import {
  type AlertTexts,
  type FieldProblem,
  NUMBER_FIELDS,
  type NumberRule,
  PATTERN_LENGTH_MAX,
  PATTERNS_MAX,
  parseAlertTexts,
  writeAlertTexts,
} from "./alerts-form-values.ts";
import { FormError, useFocusFirstInvalid } from "./change.tsx";

type FormProps = {
  readonly server: ServerResource;
  readonly onCancel: () => void;
  readonly onDone: () => void;
};

export function AlertsForm(props: FormProps) {
  const { t } = useTranslation("operatorServers");
  const admin = useAdmin();
  const { server_id: id } = props.server;
  const alerts = useAdminQuery(["alerts", id], () => admin.showAlerts(id));
  if (alerts.error?.code === ERRORS.notConfigured.code) return <Text>{t("alerts.noArchive")}</Text>;
  if (alerts.error) return <FormError error={alerts.error} />;
  return alerts.value ? <LoadedForm {...props} rules={alerts.value} /> : <LoadingState />;
}

function LoadedForm(props: FormProps & { readonly rules: AlertRulesResource }) {
  const { t } = useTranslation("operatorServers");
  const admin = useAdmin();
  const { server, onCancel, onDone } = props;
  const [texts, setTexts] = useState<AlertTexts>(() => writeAlertTexts(props.rules, SUGGESTED_ALERTS));
  const [submissions, setSubmissions] = useState(0);
  const { run, isRunning, error } = useAdminChange(
    (rules: AlertRulesResource) => admin.setAlerts(server.server_id, rules),
    ["alerts", "audit"],
  );
  const form = useFocusFirstInvalid(submissions);
  const { rules, problems } = parseAlertTexts(texts);

  async function submit(event: FormEvent) {
    event.preventDefault();
    setSubmissions((before) => before + 1);
    if (Object.keys(problems).length > 0) return;
    if (await run(rules)) onDone();
  }

  /** The suggested rules, and what the operator has set for rules without a suggestion. */
  function suggest() {
    const kept = texts.on.filter((rule) => !Object.hasOwn(SUGGESTED_ALERTS, rule));
    const suggested = writeAlertTexts(SUGGESTED_ALERTS, NO_ALERTS);
    setTexts({ on: [...suggested.on, ...kept], fields: { ...texts.fields, ...suggested.fields } });
  }

  function setField(name: string, value: string) {
    setTexts((before) => ({ ...before, fields: { ...before.fields, [name]: value } }));
  }

  return (
    <form ref={form} onSubmit={(event) => void submit(event)} noValidate>
      <Stack gap="md">
        <Text size="sm">
          <NamedSentence names={[server.name]} write={(name) => t("alerts.text", { name })} />
        </Text>
        {!server.watch && (
          <Alert color="orange" icon={<Icon name="warning" />}>
            {t("alerts.notWatched")}
          </Alert>
        )}
        <Group>
          <Button variant="light" onClick={suggest} data-autofocus>
            {t("alerts.suggest")}
          </Button>
        </Group>
        {ALERT_RULES.map((rule) => (
          <Stack key={rule} gap="xs">
            <Checkbox
              label={t(`alerts.rule.${rule}`)}
              description={t(`alerts.hint.${rule}`)}
              checked={texts.on.includes(rule)}
              onChange={(event) => setTexts(switchRule(texts, rule, event.currentTarget.checked))}
            />
            {texts.on.includes(rule) && (
              <RuleFields
                rule={rule}
                fields={texts.fields}
                problems={submissions > 0 ? problems : {}}
                onChange={setField}
              />
            )}
          </Stack>
        ))}
        <FormError error={error} />
        <DialogButtons label={t("save")} isRunning={isRunning} onCancel={onCancel} />
      </Stack>
    </form>
  );
}

function switchRule(texts: AlertTexts, rule: AlertRule, isOn: boolean): AlertTexts {
  const others = texts.on.filter((name) => name !== rule);
  return { ...texts, on: isOn ? [...others, rule] : others };
}

type FieldsProps = {
  readonly fields: AlertTexts["fields"];
  readonly problems: Readonly<Record<string, FieldProblem>>;
  readonly onChange: (name: string, value: string) => void;
};

function RuleFields({ rule, ...props }: FieldsProps & { readonly rule: AlertRule }) {
  return rule === "mass_command" ? <PatternsField {...props} /> : <NumberFields rule={rule} {...props} />;
}

function PatternsField({ fields, problems, onChange }: FieldsProps) {
  const { t } = useTranslation("operatorServers");
  const name = "mass_command.patterns";
  return (
    // Mantine's Textarea would be loaded with the page, because another lazy file has it too.
    <InputBase
      component="textarea"
      multiline
      ms="xl"
      label={t("alerts.field.patterns")}
      description={t("alerts.patternsHint")}
      value={fields[name] ?? ""}
      onChange={(event: ChangeEvent<HTMLTextAreaElement>) => onChange(name, event.currentTarget.value)}
      error={useProblemText()(problems[name])}
      rows={5}
      spellCheck={false}
      autoCapitalize="off"
      styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
    />
  );
}

function NumberFields({ rule, fields, problems, onChange }: FieldsProps & { readonly rule: NumberRule }) {
  const { t } = useTranslation("operatorServers");
  const writeProblem = useProblemText();
  const names = Object.keys(NUMBER_FIELDS[rule]) as ("count" | "seconds" | "minutes" | "below" | "above")[];
  return (
    <Group gap="sm" ms="xl" align="flex-start">
      {names.map((field) => {
        const name = `${rule}.${field}`;
        return (
          <TextInput
            key={field}
            w="11rem"
            label={t(`alerts.field.${field}`)}
            value={fields[name] ?? ""}
            onChange={(event) => onChange(name, event.currentTarget.value)}
            error={writeProblem(problems[name])}
            inputMode="numeric"
            autoComplete="off"
          />
        );
      })}
    </Group>
  );
}

function useProblemText(): (problem: FieldProblem | undefined) => string | undefined {
  const { t } = useTranslation("operatorServers");
  return (problem) => {
    if (!problem) return undefined;
    if (problem.name === "range") return t("alerts.problem.range", { min: problem.min, max: problem.max });
    return t(`alerts.problem.${problem.name}`, { n: PATTERNS_MAX, length: PATTERN_LENGTH_MAX });
  };
}
