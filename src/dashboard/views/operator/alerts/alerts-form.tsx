// Shows and sets the alert rules of a server: the fields of the form, and the rules that they mean.
import { Alert, Anchor, Button, Checkbox, Group, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { type ChangeEvent, type FormEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import {
  ALERT_RULES,
  type AlertRule,
  type AlertRules,
  NO_ALERTS,
  SUGGESTED_ALERTS,
} from "../../../../core/alerts/rules.ts";
import { ERRORS } from "../../../../core/errors.ts";
import { tellsAlerts, WEBHOOKS_PER_SERVER_MAX } from "../../../../core/webhooks/webhook.ts";
import type { AlertRulesResource } from "../../../../core/wire/alerts.ts";
import type { ServerResource } from "../../../../core/wire/server.ts";
import { DialogButtons } from "../../../parts/dialog.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { LoadingState } from "../../../parts/states.tsx";
import { markInvisible, NamedSentence } from "../../../parts/text/game-text.tsx";
import { hrefOf } from "../../../state/route.ts";
import { useAdmin, useAdminChange, useAdminQuery, useAdminRights } from "../../../state/session/use-admin.ts";
import { useServerNames } from "../fields.tsx";
import { FormError, useFocusFirstInvalid } from "../form.tsx";

type FormProps = {
  readonly server: ServerResource;
  readonly onCancel: () => void;
  readonly onDone: (isForAll: boolean) => void;
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
  const { t } = useTranslation(["operatorServers", "operator"]);
  const admin = useAdmin();
  const { server, onCancel, onDone } = props;
  const { servers } = useServerNames("alerts");
  const [isForAll, setForAll] = useState(false);
  /** The names of the servers whose rules could not be set with those of all. */
  const [unset, setUnset] = useState<readonly string[]>([]);
  const [texts, setTexts] = useState<AlertTexts>(() => writeAlertTexts(props.rules, SUGGESTED_ALERTS));
  const [submissions, setSubmissions] = useState(0);
  const { run, isRunning, error } = useAdminChange(
    async (rules: AlertRulesResource) => {
      let outcome = await admin.setAlerts(server.server_id, rules);
      const others = isForAll && outcome.ok ? servers.filter(({ server_id: id }) => id !== server.server_id) : [];
      const names: string[] = [];
      for (const { server_id: id, name } of others) {
        const next = await admin.setAlerts(id, rules);
        if (next.ok) continue;
        names.push(markInvisible(name));
        outcome = next;
      }
      setUnset(names);
      return outcome;
    },
    ["alerts", "audit"],
  );
  const form = useFocusFirstInvalid(submissions);
  const { rules, problems } = parseAlertTexts(texts);

  async function submit(event: FormEvent) {
    event.preventDefault();
    setSubmissions((before) => before + 1);
    if (Object.keys(problems).length > 0) return;
    if (await run(rules)) onDone(isForAll);
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
        {texts.on.length > 0 && <UnheardHint server={server} />}
        {servers.length > 1 && (
          <Checkbox
            label={t("alerts.forAll", { count: servers.length })}
            description={t("alerts.forAllHint")}
            checked={isForAll}
            onChange={(event) => setForAll(event.currentTarget.checked)}
          />
        )}
        <FormError error={error} />
        {error && unset.length > 0 && (
          <Text size="sm" className="untrusted">
            {t("alerts.unset", { names: unset.join(", ") })}
          </Text>
        )}
        <DialogButtons label={t("operator:save")} isRunning={isRunning} onCancel={onCancel} />
      </Stack>
    </form>
  );
}

/** For rules that no webhook would tell anybody of. */
function UnheardHint({ server: { server_id: id } }: { readonly server: ServerResource }) {
  const { t } = useTranslation("operatorServers");
  const admin = useAdmin();
  const mayWebhooks = useAdminRights().may("webhooks", id);
  const { value } = useAdminQuery(
    ["webhooks", "alerts", id],
    () => admin.listWebhooks({ server_id: id, limit: WEBHOOKS_PER_SERVER_MAX }),
    undefined,
    mayWebhooks,
  );
  if (!value || value.items.some(tellsAlerts)) return null;
  return (
    <Alert color="blue" icon={<Icon name="webhooks" />}>
      {t("alerts.unheard")}{" "}
      <Anchor href={hrefOf("webhooks")} size="sm" underline="always">
        {t("alerts.toWebhooks")}
      </Anchor>
    </Alert>
  );
}

function switchRule(texts: AlertTexts, rule: AlertRule, isOn: boolean): AlertTexts {
  const others = texts.on.filter((name) => name !== rule);
  return { ...texts, on: isOn ? [...others, rule] : others };
}

function RuleFields(props: {
  readonly rule: AlertRule;
  readonly fields: AlertTexts["fields"];
  readonly problems: Readonly<Record<string, FieldProblem>>;
  readonly onChange: (name: string, value: string) => void;
}) {
  const { t } = useTranslation("operatorServers");
  const { rule } = props;
  function writeProblem(problem: FieldProblem | undefined): string | undefined {
    if (!problem) return undefined;
    if (problem.name === "range") return t("alerts.problem.range", { min: problem.min, max: problem.max });
    return t(`alerts.problem.${problem.name}`, { n: PATTERNS_MAX, length: PATTERN_LENGTH_MAX });
  }
  const propsOf = (field: "count" | "seconds" | "minutes" | "below" | "above" | "patterns") => ({
    label: t(`alerts.field.${field}`),
    value: props.fields[`${rule}.${field}`] ?? "",
    onChange: (event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) =>
      props.onChange(`${rule}.${field}`, event.currentTarget.value),
    error: writeProblem(props.problems[`${rule}.${field}`]),
  });
  if (rule === "mass_command") {
    return (
      <Textarea
        {...propsOf("patterns")}
        ms="xl"
        description={t("alerts.patternsHint")}
        rows={5}
        spellCheck={false}
        autoCapitalize="off"
        styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
      />
    );
  }
  const names = Object.keys(NUMBER_FIELDS[rule]) as Parameters<typeof propsOf>[0][];
  return (
    <Group gap="sm" ms="xl" align="flex-start">
      {names.map((field) => (
        <TextInput key={field} {...propsOf(field)} w="11rem" inputMode="numeric" autoComplete="off" />
      ))}
    </Group>
  );
}

/** The fields with a number, by the rule they are of, with the smallest and the largest value. */
export const NUMBER_FIELDS = {
  kills: { count: [2, 100], seconds: [1, 3_600] },
  unanswered_modcall: { minutes: [1, 10_080] },
  offline: { minutes: [1, 10_080] },
  unreachable: { minutes: [1, 10_080] },
  players: { below: [1, 1_000], above: [0, 1_000], minutes: [1, 10_080] },
} as const satisfies Partial<Record<AlertRule, Readonly<Record<string, readonly [number, number]>>>>;
type NumberRule = keyof typeof NUMBER_FIELDS;

const PATTERNS_MAX = 50;
const PATTERN_LENGTH_MAX = 100;

/** `fields` has the texts of all fields, as `kills.count`, also of rules that are off while the form is open. */
type AlertTexts = {
  readonly on: readonly AlertRule[];
  readonly fields: Readonly<Record<string, string>>;
};

type FieldProblem =
  | { readonly name: "range"; readonly min: number; readonly max: number }
  | { readonly name: "noPattern" | "patterns" | "crowd" | "order" };

type ParsedAlerts = {
  readonly rules: AlertRulesResource;
  /** By field; empty when the rules can be set. */
  readonly problems: Readonly<Record<string, FieldProblem>>;
};

/** `suggested` fills the fields of rules that are off, so that switching one on is enough. */
export function writeAlertTexts(rules: AlertRules, suggested: AlertRules): AlertTexts {
  const fields: Record<string, string> = { "players.minutes": "10" };
  for (const given of [suggested, rules]) {
    for (const [rule, values] of Object.entries(given)) {
      for (const [field, value] of Object.entries(values)) {
        fields[`${rule}.${field}`] = Array.isArray(value) ? value.join("\n") : String(value);
      }
    }
  }
  return { on: Object.keys(rules) as AlertRule[], fields };
}

export function parseAlertTexts({ on, fields }: AlertTexts): ParsedAlerts {
  const problems: Record<string, FieldProblem> = {};
  const rules: Record<string, object> = {};
  for (const rule of on) {
    if (rule === "mass_command") rules[rule] = { patterns: parsePatterns(fields, problems) };
    else rules[rule] = parseNumbers(rule, fields, problems);
  }
  return { rules: rules as AlertRulesResource, problems };
}

function parsePatterns(fields: AlertTexts["fields"], problems: Record<string, FieldProblem>): readonly string[] {
  const lines = (fields["mass_command.patterns"] ?? "").split("\n").map((line) => line.trim());
  const patterns = [...new Set(lines.filter((line) => line !== ""))];
  if (patterns.length === 0) problems["mass_command.patterns"] = { name: "noPattern" };
  else if (patterns.length > PATTERNS_MAX || patterns.some((text) => text.length > PATTERN_LENGTH_MAX))
    problems["mass_command.patterns"] = { name: "patterns" };
  return patterns;
}

function parseNumbers(
  rule: NumberRule,
  fields: AlertTexts["fields"],
  problems: Record<string, FieldProblem>,
): Readonly<Record<string, number>> {
  const values: Record<string, number> = {};
  for (const [field, [min, max]] of Object.entries(NUMBER_FIELDS[rule])) {
    const text = (fields[`${rule}.${field}`] ?? "").trim();
    // Either end of the number of players may be left out.
    if (text === "" && (field === "below" || field === "above")) continue;
    const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) values[field] = value;
    else problems[`${rule}.${field}`] = { name: "range", min, max };
  }
  if (rule === "players") judgeCrowd(values, fields, problems);
  return values;
}

function judgeCrowd(
  { below, above }: Readonly<Record<string, number>>,
  fields: AlertTexts["fields"],
  problems: Record<string, FieldProblem>,
): void {
  const isEmpty = (field: string) => (fields[`players.${field}`] ?? "").trim() === "";
  if (isEmpty("below") && isEmpty("above")) problems["players.below"] = { name: "crowd" };
  // Every number of players would be one or the other.
  else if (below !== undefined && above !== undefined && below > above) problems["players.below"] = { name: "order" };
}
