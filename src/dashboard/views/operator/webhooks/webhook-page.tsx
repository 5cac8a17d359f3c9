// The page of one webhook: how it is doing, its settings, everything that can be done with it, and its deliveries.
import { Alert, Anchor, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { ERRORS } from "../../../../core/errors.ts";
import { WAITING_MAX } from "../../../../core/webhooks/webhook.ts";
import type { WebhookResource } from "../../../../core/wire/webhook.ts";
import { Dialog, useDialog } from "../../../parts/dialog.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { FailedState, LoadingState, Notice } from "../../../parts/states.tsx";
import { NamedSentence, NameText } from "../../../parts/text/game-text.tsx";
import { Ago, NowProvider } from "../../../parts/text/time.tsx";
import { hrefOf } from "../../../state/route.ts";
import { useAdmin, useAdminChange, useAdminQuery } from "../../../state/session/use-admin.ts";
import { useFormat } from "../../../state/time/use-format.ts";
import { CopiedId, Facts, FieldValue } from "../fields.tsx";
import { ChangeDialog, FormError, listChanges } from "../form.tsx";
import { SmallButton, SuccessMessage } from "../layout.tsx";
import { type WebhookSecret, WebhookSecretDialog } from "../secret-dialog.tsx";
import { RedeliveryForm, TestButton, TestResult, useWebhookTest, WebhookDeliveries } from "./webhook-deliveries.tsx";
import { hasTypes, isWritten, listSettings, toBody, toFormValues, WebhookForm } from "./webhook-form.tsx";
import { judgeWebhook } from "./webhook-types.ts";
import { useProblemWords, useTypeNames, useWaitingText, WebhookBadge } from "./webhook-words.tsx";

const POLL_INTERVAL_MS = 5_000;

export function WebhookPage({ webhookId }: { readonly webhookId: string }) {
  const { t } = useTranslation(["operatorWebhooks", "status"]);
  const admin = useAdmin();
  const [isGone, setGone] = useState(false);
  const { value, error, isLoading, refresh } = useAdminQuery(
    ["webhooks", "one", webhookId],
    () => admin.showWebhook(webhookId),
    isGone ? undefined : POLL_INTERVAL_MS,
  );
  const isNotFound = error?.code === ERRORS.notFound.code;
  if (isNotFound && !isGone) setGone(true);
  const back = (
    <Anchor href={hrefOf("webhooks")} size="sm">
      {t("all")}
    </Anchor>
  );
  if (isNotFound) return <Notice icon="search" title={t("gone")} action={back} />;
  if (isLoading) return <LoadingState />;
  if (!value) return error ? <FailedState error={error} onRetry={refresh} /> : null;
  return (
    <Stack gap="md">
      {error && (
        <Alert color="orange" icon={<Icon name="warning" />} title={t("status:title.failed")}>
          {t("status:lastKnown")}
        </Alert>
      )}
      <WebhookBody webhook={value} back={back} />
    </Stack>
  );
}

function WebhookBody(props: { readonly webhook: WebhookResource; readonly back: ReactNode }) {
  const { t } = useTranslation(["operatorWebhooks", "operator"]);
  const admin = useAdmin();
  const { webhook } = props;
  const { webhook_id: id, label } = webhook;
  const [done, setDone] = useState<ReactNode>();
  const say = (write: (place: string) => string) => setDone(<NamedSentence names={[label]} write={write} />);
  const editing = useDialog<WebhookResource>();
  const disabling = useDialog<WebhookResource>();
  const rotating = useDialog<WebhookResource>();
  const redelivering = useDialog<string>();
  const deleting = useDialog<WebhookResource>();
  const secret = useDialog<WebhookSecret>();
  const enabling = useAdminChange(() => admin.changeWebhook(id, { enabled: true }), ["webhooks", "readiness"], true);
  const test = useWebhookTest(id);
  async function enable() {
    const changed = await enabling.run(undefined);
    if (changed) say((place) => t(hasTypes(webhook) ? "enabled" : "enabledStatus", { label: place }));
  }
  return (
    <Stack gap="md">
      <Group justify="space-between" align="flex-start">
        <Stack gap={4} miw={0}>
          <Group gap="xs">
            <Title order={1} size="h2" className="untrusted">
              <NameText text={label} />
            </Title>
            <WebhookBadge webhook={webhook} />
          </Group>
          {props.back}
        </Stack>
        <Group gap="xs">
          <TestButton test={test} isMain={webhook.enabled} />
          <SmallButton text={t("operator:edit")} onClick={() => editing.open(webhook)} />
          {webhook.enabled ? (
            <SmallButton text={t("disable")} onClick={() => disabling.open(webhook)} />
          ) : (
            // Not disabled meanwhile, and the same component as above, so that it keeps the focus.
            <SmallButton
              text={t("enable")}
              variant="filled"
              onClick={() => void enable()}
              aria-disabled={enabling.isRunning || undefined}
            />
          )}
          {!isWritten(webhook) && <SmallButton text={t("rotate")} onClick={() => rotating.open(webhook)} />}
          {hasTypes(webhook) && <SmallButton text={t("redeliver")} onClick={() => redelivering.open("")} />}
          <SmallButton text={t("delete")} color="red" onClick={() => deleting.open(webhook)} />
        </Group>
      </Group>
      <SuccessMessage text={done} onClose={() => setDone(undefined)} />
      <FormError error={enabling.error} />
      <StandingAlert webhook={webhook} />
      <TestResult test={test} />
      <NowProvider>
        <WebhookFacts webhook={webhook} />
        <WebhookDeliveries webhook={webhook} onRedeliver={hasTypes(webhook) ? redelivering.open : undefined} />
      </NowProvider>

      <Dialog state={editing} title={t("editTitle")} isLarge>
        {(item) => (
          <WebhookForm
            start={toFormValues(item)}
            webhook={item}
            label={t("operator:save")}
            toBody={(values) => listChanges(toBody(toFormValues(item)), toBody(values))}
            change={(body) => admin.changeWebhook(id, body)}
            onCancel={editing.close}
            onDone={() => {
              editing.close();
              say((place) => t("saved", { label: place }));
            }}
          />
        )}
      </Dialog>
      <ChangeDialog
        state={disabling}
        title={t("disabling.title")}
        label={t("disable")}
        nameOf={labelOf}
        text={(place, item) => t(hasTypes(item) ? "disabling.text" : "disabling.statusText", { label: place })}
        change={() => admin.changeWebhook(id, { enabled: false })}
        invalidates={["webhooks", "readiness"]}
        onDone={() => say((place) => t(hasTypes(webhook) ? "disabled" : "disabledStatus", { label: place }))}
      />
      <ChangeDialog
        state={rotating}
        title={t("rotation.title")}
        label={t("rotation.action")}
        nameOf={labelOf}
        text={(place) => t("rotation.text", { label: place })}
        change={() => admin.rotateWebhook(id)}
        invalidates={["webhooks"]}
        onDone={(rotated) => rotated && secret.open({ label, secret: rotated.secret, isRotated: true })}
      />
      <Dialog state={redelivering} title={t("redelivery.title")}>
        {(after) => (
          <RedeliveryForm
            webhook={webhook}
            after={after}
            onCancel={redelivering.close}
            onDone={() => {
              redelivering.close();
              say((place) => t("moved", { label: place }));
            }}
          />
        )}
      </Dialog>
      <ChangeDialog
        state={deleting}
        title={t("deletion.title")}
        label={t("deletion.action")}
        nameOf={labelOf}
        text={(place) => t("deletion.text", { label: place })}
        change={() => admin.deleteWebhook(id)}
        invalidates={["readiness"]}
        onDone={() => {
          location.hash = hrefOf("webhooks");
        }}
      />
      <WebhookSecretDialog state={secret} />
    </Stack>
  );
}

/** What keeps the webhook from delivering. */
function StandingAlert({ webhook }: { readonly webhook: WebhookResource }) {
  const { t } = useTranslation("operatorWebhooks");
  const { describeReason } = useProblemWords();
  const writeWaiting = useWaitingText();
  const state = judgeWebhook(webhook);
  const waiting = writeWaiting(webhook.waiting);
  const isOff = state === "off" || state === "disabled";
  if (!isOff && state !== "failing") return null;
  return (
    <Alert
      role="alert"
      color={state === "disabled" ? "red" : state === "failing" ? "orange" : "gray"}
      icon={<Icon name="warning" />}
      title={t(state === "disabled" ? "reasonTitle" : state === "failing" ? "failingTitle" : "offTitle")}
    >
      <Stack gap={4}>
        {webhook.disabled_reason !== null && (
          <Text size="sm" fw={600} className="untrusted">
            {describeReason(webhook)}
          </Text>
        )}
        <Text size="sm">
          {!isOff ? t("failingText") : t(hasTypes(webhook) ? "resumeHint" : "resumeStatusHint")}{" "}
          {waiting !== undefined && t("waitingNow", { waiting })}
        </Text>
      </Stack>
    </Alert>
  );
}

function labelOf({ label }: WebhookResource): string {
  return label;
}

function WebhookFacts({ webhook }: { readonly webhook: WebhookResource }) {
  const { t } = useTranslation(["operatorWebhooks", "operator"]);
  const format = useFormat();
  const { nameTypes } = useTypeNames();
  const { webhook_id: id, waiting, last_success_at: successAt, last_failure_at: failureAt } = webhook;
  const facts = listSettings(webhook).map((field): [string, ReactNode] => {
    if (field === "show_join_key") return [t("fact.joinKey"), t(webhook[field] ? "fact.shown" : "fact.hidden")];
    const name = t(`operator:fields.${field}`);
    if (field === "url") return [name, `${webhook.url}/…`];
    if (field === "types") return [name, nameTypes(webhook.types)];
    return [name, <FieldValue key={field} field={field} value={webhook[field]} />];
  });
  if (hasTypes(webhook)) {
    facts.push([t("column.waiting"), format.number(waiting) + (waiting >= WAITING_MAX ? "+" : "")]);
  }
  facts.push(
    [t("column.success"), successAt === null ? t("never") : <Ago key="success" at={successAt} />],
    [t("column.failure"), failureAt === null ? t("never") : <Ago key="failure" at={failureAt} />],
    [t("operator:created"), format.dateTime(webhook.created_at)],
    [t("fact.id"), <CopiedId key="id" id={id} label={t("fact.id")} />],
  );
  return (
    <Paper withBorder p="sm">
      <Facts facts={facts} />
    </Paper>
  );
}
