// The last attempts to deliver to a webhook, newest first.
import { Badge, Button, Stack, Text, Title } from "@mantine/core";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { DeliveryResource, WebhookResource } from "../../../core/wire/webhook.ts";
import { Moment } from "../../parts/moment.tsx";
import { NameText } from "../../parts/name-text.tsx";
import { SortedTable } from "../../parts/sorted-table.tsx";
import { EmptyState, FailedState, LoadingState } from "../../parts/states.tsx";
import type { ShownColumn } from "../../parts/table-columns.ts";
import { useAdmin, useAdminQuery } from "../../state/use-admin.ts";
import { useFormat } from "../../state/use-format.ts";
import { isSuccess } from "./webhook-state.ts";
import { useProblemWords } from "./webhook-words.ts";

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
    <Stack gap="xs" component="section" aria-label={t("delivery.title")}>
      <Title order={2} size="h4">
        {t("delivery.title")}
      </Title>
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
          <Text size="sm" c="dimmed">
            {t("delivery.summary")}
          </Text>
        </SortedTable>
      ) : (
        error && <FailedState error={error} onRetry={refresh} />
      )}
    </Stack>
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
          <Badge color={isSuccess(status) ? "teal" : "red"} variant="light" tt="none">
            {status ?? t("delivery.noAnswer")}
          </Badge>
        ),
        width: "8rem",
        phone: "side",
      },
      {
        id: "events",
        title: t("delivery.events"),
        readValue: ({ event_ids: ids }) => ids.length,
        cell: ({ event_ids: ids }) => <span className="numbers">{format.number(ids.length)}</span>,
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
        width: "7rem",
        phone: "tap",
      },
      {
        id: "error",
        title: t("delivery.error"),
        readValue: ({ error }) => (error === null ? undefined : describeError(error)),
        cell: ({ error }) =>
          error === null ? undefined : <NameText text={describeError(error)} max={ERROR_MAX} />,
        phone: "line",
      },
      ...(onRedeliver
        ? [
            {
              id: "buttons",
              title: t("table:buttons"),
              readValue: () => undefined,
              cell: (delivery: DeliveryResource) => {
                const after = delivery.event_ids.at(-1);
                if (!isSuccess(delivery.status) || after === undefined) return undefined;
                return (
                  <Button
                    size="compact-sm"
                    variant="light"
                    onClick={() => onRedeliver(after)}
                    aria-label={t("redelivery.afterThisName", { time: format.dateTime(delivery.at) })}
                  >
                    {t("redelivery.afterThis")}
                  </Button>
                );
              },
              width: "13rem",
              isButtons: true,
            },
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
