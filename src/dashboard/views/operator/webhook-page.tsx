// The page of one webhook: how it is doing, its settings, everything that can be done with it, and its deliveries.
import { Alert, Anchor, Button, Code, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { ERRORS } from "../../../core/errors.ts";
import { WAITING_MAX } from "../../../core/webhooks/webhook.ts";
import type { WebhookResource } from "../../../core/wire/webhook.ts";
import { Ago } from "../../parts/ago.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Dialog, useDialog } from "../../parts/dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { NowProvider } from "../../parts/moment.tsx";
import { NamedSentence, NameText } from "../../parts/name-text.tsx";
import { FailedState, LoadingState, Notice } from "../../parts/states.tsx";
import { hrefOf } from "../../state/route.ts";
import { useAdmin, useAdminChange, useAdminQuery } from "../../state/use-admin.ts";
import { useFormat } from "../../state/use-format.ts";
import { ChangeDialog, FormError } from "./change.tsx";
import { useServerNames } from "./names.ts";
import { SuccessMessage } from "./success-message.tsx";
import { useWaitingText, WebhookBadge } from "./webhook-badge.tsx";
import { WebhookDeliveries } from "./webhook-deliveries.tsx";
import { EditWebhookForm } from "./webhook-form.tsx";
import { hasTypes, isWritten } from "./webhook-form-values.ts";
import { RedeliveryForm } from "./webhook-redelivery-form.tsx";
import { type WebhookSecret, WebhookSecretDialog } from "./webhook-secret-dialog.tsx";
import { judgeWebhook } from "./webhook-state.ts";
import { TestButton, TestResult, useWebhookTest } from "./webhook-test.tsx";
import { useProblemWords, useTypeNames } from "./webhook-words.ts";

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
  const { t } = useTranslation("operatorWebhooks");
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
  const enabling = useAdminChange(
    () => admin.changeWebhook(id, { enabled: true }),
    ["webhooks", "readiness"],
    true,
  );
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
          <Button size="xs" variant="light" onClick={() => editing.open(webhook)}>
            {t("edit")}
          </Button>
          {webhook.enabled ? (
            <Button size="xs" variant="light" onClick={() => disabling.open(webhook)}>
              {t("disable")}
            </Button>
          ) : (
            // Not disabled meanwhile, so that it keeps the focus.
            <Button size="xs" onClick={() => void enable()} aria-disabled={enabling.isRunning || undefined}>
              {t("enable")}
            </Button>
          )}
          {!isWritten(webhook) && (
            <Button size="xs" variant="light" onClick={() => rotating.open(webhook)}>
              {t("rotate")}
            </Button>
          )}
          {hasTypes(webhook) && (
            <Button size="xs" variant="light" onClick={() => redelivering.open("")}>
              {t("redeliver")}
            </Button>
          )}
          <Button size="xs" variant="light" color="red" onClick={() => deleting.open(webhook)}>
            {t("delete")}
          </Button>
        </Group>
      </Group>
      <SuccessMessage text={done} onClose={() => setDone(undefined)} />
      <FormError error={enabling.error} />
      <StandingAlert webhook={webhook} />
      <TestResult test={test} />
      <NowProvider>
        <WebhookFacts webhook={webhook} />
        <WebhookDeliveries
          webhook={webhook}
          onRedeliver={hasTypes(webhook) ? redelivering.open : undefined}
        />
      </NowProvider>

      <Dialog state={editing} title={t("editTitle")} isLarge>
        {(item) => (
          <EditWebhookForm
            webhook={item}
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
        change={() => admin.changeWebhook(id, { enabled: false })}
        invalidates={["webhooks", "readiness"]}
        onDone={() => say((place) => t(hasTypes(webhook) ? "disabled" : "disabledStatus", { label: place }))}
      >
        {(item) => (
          <Text>
            <NamedSentence
              names={[item.label]}
              write={(place) =>
                t(hasTypes(item) ? "disabling.text" : "disabling.statusText", { label: place })
              }
            />
          </Text>
        )}
      </ChangeDialog>
      <ChangeDialog
        state={rotating}
        title={t("rotation.title")}
        label={t("rotation.action")}
        change={() => admin.rotateWebhook(id)}
        invalidates={["webhooks"]}
        onDone={(rotated) => rotated && secret.open({ label, secret: rotated.secret, isRotated: true })}
      >
        {(item) => (
          <Text>
            <NamedSentence names={[item.label]} write={(place) => t("rotation.text", { label: place })} />
          </Text>
        )}
      </ChangeDialog>
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
        change={() => admin.deleteWebhook(id)}
        invalidates={["readiness"]}
        onDone={() => {
          location.hash = hrefOf("webhooks");
        }}
      >
        {(item) => (
          <Text>
            <NamedSentence names={[item.label]} write={(place) => t("deletion.text", { label: place })} />
          </Text>
        )}
      </ChangeDialog>
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
            {describeReason(webhook.disabled_reason)}
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

function WebhookFacts({ webhook }: { readonly webhook: WebhookResource }) {
  const { t } = useTranslation("operatorWebhooks");
  const format = useFormat();
  const { nameOf } = useServerNames();
  const { nameTypes } = useTypeNames();
  const { server_id: serverId, last_success_at: successAt, last_failure_at: failureAt } = webhook;
  return (
    <Paper withBorder p="sm">
      <dl className="facts">
        <Fact label={t("server")}>
          <NameText text={nameOf(serverId) ?? serverId} />
        </Fact>
        <Fact label={t("column.format")}>{t(`format.${webhook.format}`)}</Fact>
        <Fact label={t("column.address")}>{webhook.url}/…</Fact>
        {hasTypes(webhook) && <Fact label={t("form.types")}>{nameTypes(webhook.types)}</Fact>}
        {isWritten(webhook) && (
          <>
            <Fact label={t("fact.language")}>{t(`language.${webhook.language}`)}</Fact>
            <Fact label={t("fact.joinKey")}>{t(webhook.show_join_key ? "fact.shown" : "fact.hidden")}</Fact>
          </>
        )}
        {hasTypes(webhook) && (
          <Fact label={t("column.waiting")}>
            {format.number(webhook.waiting)}
            {webhook.waiting >= WAITING_MAX && "+"}
          </Fact>
        )}
        <Fact label={t("column.success")}>{successAt === null ? t("never") : <Ago at={successAt} />}</Fact>
        <Fact label={t("column.failure")}>{failureAt === null ? t("never") : <Ago at={failureAt} />}</Fact>
        <Fact label={t("column.created")}>{format.dateTime(webhook.created_at)}</Fact>
        <Fact label={t("fact.id")}>
          <Group gap={4}>
            <Code>{webhook.webhook_id}</Code>
            <CopyButton value={webhook.webhook_id} label={t("fact.id")} />
          </Group>
        </Fact>
      </dl>
    </Paper>
  );
}

function Fact({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <>
      <dt>{label}</dt>
      <dd className="untrusted">{children}</dd>
    </>
  );
}
