// What was delivered to a webhook: the last attempts, newest first, a test, and the form that moves it to another place in the
// ledger.
import { Alert, Badge, Button, NativeSelect, Text } from "@mantine/core";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import type { DeliveryResource, WebhookResource, WebhookTestResult } from "../../../../core/wire/webhook.ts";
import { Icon } from "../../../parts/icon.tsx";
import { EmptyState, FailedState, LoadingState } from "../../../parts/states.tsx";
import { SortedTable } from "../../../parts/table/sorted-table.tsx";
import type { ShownColumn } from "../../../parts/table/table-columns.ts";
import { NamedSentence, NameText } from "../../../parts/text/game-text.tsx";
import { Moment } from "../../../parts/text/time.tsx";
import { useAdmin, useAdminChange, useAdminQuery } from "../../../state/session/use-admin.ts";
import { useFormat } from "../../../state/time/use-format.ts";
import { FormError, FormFrame, useApiForm } from "../form.tsx";
import { Hint, Section, SmallButton } from "../layout.tsx";
import { makeButtons } from "../list-frame.tsx";
import { isSuccess, listPlaces } from "./webhook-types.ts";
import { useProblemWords } from "./webhook-words.tsx";

const POLL_INTERVAL_MS = 5_000;
/** The characters of an error that are shown at once; a button shows the rest. */
const ERROR_MAX = 200;

export function useDeliveries(webhookId: string, everyMs?: number) {
  const admin = useAdmin();
  return useAdminQuery(["webhooks", "deliveries", webhookId], () => admin.listDeliveries(webhookId), everyMs);
}

export function WebhookDeliveries(props: {
  readonly webhook: WebhookResource;
  /** Gets the place after a delivery; undefined for a webhook without a place. */
  readonly onRedeliver: ((after: string) => void) | undefined;
}) {
  const { t } = useTranslation("operatorWebhooks");
  const { value, error, isLoading, refresh } = useDeliveries(props.webhook.webhook_id, POLL_INTERVAL_MS);
  const columns = useDeliveryColumns(props.onRedeliver);
  return (
    <Section title={t("delivery.title")}>
      {isLoading ? (
        <LoadingState />
      ) : value ? (
        <SortedTable
          label={t("delivery.title")}
          rows={value.items}
          columns={columns}
          keyOf={keyOfDelivery}
          attributesOf={attributesOfDelivery}
          empty={<EmptyState title={t("delivery.empty")} />}
        >
          <Hint>{t("delivery.summary")}</Hint>
        </SortedTable>
      ) : (
        error && <FailedState error={error} onRetry={refresh} />
      )}
    </Section>
  );
}

function useDeliveryColumns(
  onRedeliver: ((after: string) => void) | undefined,
): readonly ShownColumn<DeliveryResource>[] {
  const { t } = useTranslation(["operatorWebhooks", "table"]);
  const format = useFormat();
  const { describeError } = useProblemWords();
  return useMemo(
    () => [
      {
        id: "at",
        title: t("delivery.when"),
        readValue: ({ at }) => at,
        cell: ({ at }) => <Moment seconds={at / 1000} />,
        width: "19rem",
      },
      {
        id: "status",
        title: t("delivery.status"),
        readValue: ({ status }) => status ?? undefined,
        cell: ({ status }) => (
          <Badge color={isSuccess(status) ? "teal" : "red"}>{status ?? t("delivery.noAnswer")}</Badge>
        ),
        width: "8rem",
        phone: "side",
      },
      {
        id: "events",
        title: t("delivery.events"),
        readValue: ({ event_ids: ids }) => ids.length,
        cell: ({ event_ids: ids }) => <span className="numbers">{format.number(ids.length)}</span>,
        isNumber: true,
        width: "6.5rem",
        phone: "tap",
      },
      {
        id: "duration",
        title: t("delivery.duration"),
        readValue: ({ duration_ms: ms }) => ms,
        cell: ({ duration_ms: ms }) => (
          <span className="numbers">{t("delivery.milliseconds", { n: format.number(ms) })}</span>
        ),
        isNumber: true,
        width: "7rem",
        phone: "tap",
      },
      {
        id: "error",
        title: t("delivery.error"),
        readValue: describeError,
        cell: (delivery) => {
          const text = describeError(delivery);
          return text === undefined ? undefined : <NameText text={text} max={ERROR_MAX} />;
        },
        phone: "line",
      },
      ...(onRedeliver
        ? [
            makeButtons(t("table:buttons"), "13rem", (delivery: DeliveryResource) => {
              const after = delivery.event_ids.at(-1);
              if (!isSuccess(delivery.status) || after === undefined) return undefined;
              return (
                <SmallButton
                  size="compact-sm"
                  text={t("redelivery.afterThis")}
                  name={t("redelivery.afterThisName", { time: format.dateTime(delivery.at) })}
                  onClick={() => onRedeliver(after)}
                />
              );
            }),
          ]
        : []),
    ],
    [t, format, describeError, onRedeliver],
  );
}

/** A repeated attempt has the same events, and two attempts never begin in the same millisecond for one webhook. */
function keyOfDelivery({ at, event_ids: ids }: DeliveryResource): string {
  return `${at} ${ids[0] ?? ""}`;
}

function attributesOfDelivery({ status }: DeliveryResource) {
  return { "data-status": String(status) };
}

const EARLIEST = "earliest";
const NOW = "now";

export function RedeliveryForm(props: {
  readonly webhook: WebhookResource;
  /** The place that is chosen at first; empty for the earliest. */
  readonly after: string;
  readonly onCancel: () => void;
  readonly onDone: () => void;
}) {
  const { t } = useTranslation("operatorWebhooks");
  const admin = useAdmin();
  const format = useFormat();
  const { webhook_id: id, label } = props.webhook;
  const { value } = useDeliveries(id);
  const [places] = useState(() => listPlaces(value?.items ?? []));
  const form = useApiForm("operatorWebhooks", {
    start: { position: props.after || EARLIEST },
    toBody: ({ position }) => ({ after: position }),
    change: (body) => admin.redeliver(id, body),
    invalidates: ["webhooks"],
    onDone: props.onDone,
  });
  return (
    <FormFrame form={form} label={t("redelivery.action")} onCancel={props.onCancel}>
      <Text>
        <NamedSentence names={[label]} write={(place) => t("redelivery.text", { label: place })} />
      </Text>
      <NativeSelect
        {...form.field("position")}
        data={[
          { value: EARLIEST, label: t("redelivery.earliest") },
          ...places.map(({ at, after }) => ({
            value: after,
            label: t("redelivery.after", { time: format.dateTime(at) }),
          })),
          { value: NOW, label: t("redelivery.now") },
        ]}
        data-autofocus
      />
    </FormFrame>
  );
}

type WebhookTest = ReturnType<typeof useWebhookTest>;

export function useWebhookTest(webhookId: string) {
  const admin = useAdmin();
  const [result, setResult] = useState<WebhookTestResult>();
  const { run, isRunning, error } = useAdminChange(() => admin.testWebhook(webhookId), ["webhooks"], true);
  return {
    result: isRunning ? undefined : result,
    isRunning,
    error,
    start: async () => setResult(await run(undefined)),
    close: () => setResult(undefined),
  };
}

/** `isMain`: whether it is the first thing to do. */
export function TestButton({ test, isMain }: { readonly test: WebhookTest; readonly isMain: boolean }) {
  const { t } = useTranslation("operatorWebhooks");
  return (
    <Button
      size="xs"
      variant={isMain ? "filled" : "light"}
      onClick={() => void test.start()}
      aria-disabled={test.isRunning || undefined}
    >
      {t(test.isRunning ? "test.running" : "test.action")}
    </Button>
  );
}

export function TestResult({ test }: { readonly test: WebhookTest }) {
  const { t } = useTranslation(["operatorWebhooks", "shell"]);
  const format = useFormat();
  const { describeError } = useProblemWords();
  const { result } = test;
  const n = format.number(result?.duration_ms ?? 0);
  const isOk = result !== undefined && isSuccess(result.status);
  return (
    <>
      <FormError error={test.error} />
      <div role="status" className="announcer">
        {result && (
          <Alert
            color={isOk ? "teal" : "red"}
            icon={<Icon name={isOk ? "check" : "warning"} />}
            title={
              result.status === null
                ? t("test.failed", { n })
                : t(isOk ? "test.ok" : "test.refused", { status: result.status, n })
            }
            withCloseButton
            closeButtonLabel={t("shell:close")}
            onClose={test.close}
          >
            {result.error !== null && (
              <Text size="sm" className="untrusted">
                {describeError(result)}
              </Text>
            )}
          </Alert>
        )}
      </div>
    </>
  );
}
