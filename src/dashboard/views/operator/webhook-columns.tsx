// The columns of the list of webhooks.
import { Anchor } from "@mantine/core";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { WebhookResource } from "../../../core/wire/webhook.ts";
import { Ago } from "../../parts/ago.tsx";
import { NameText } from "../../parts/name-text.tsx";
import type { ShownColumn } from "../../parts/table-columns.ts";
import { hrefOf } from "../../state/route.ts";
import { useFormat } from "../../state/use-format.ts";
import { useWaitingText, WebhookBadge } from "./webhook-badge.tsx";
import { judgeWebhook } from "./webhook-state.ts";
import { useProblemWords } from "./webhook-words.ts";

export function hrefOfWebhook({ webhook_id: id }: Pick<WebhookResource, "webhook_id">): string {
  return hrefOf(`webhooks/${id}`);
}

export function useWebhookColumns(
  serverOf: (serverId: string) => string | undefined,
): readonly ShownColumn<WebhookResource>[] {
  const { t } = useTranslation("operatorWebhooks");
  const format = useFormat();
  const { describeReason } = useProblemWords();
  const writeWaiting = useWaitingText();
  return useMemo(
    () => [
      {
        id: "label",
        title: t("column.label"),
        readValue: ({ label }) => label,
        cell: (webhook) => (
          <Anchor href={hrefOfWebhook(webhook)} size="sm" fw={600}>
            <NameText text={webhook.label} />
          </Anchor>
        ),
      },
      {
        id: "state",
        title: t("column.state"),
        readValue: (webhook) => t(`state.${judgeWebhook(webhook)}`),
        cell: (webhook) => <WebhookBadge webhook={webhook} />,
        width: "11.5rem",
        phone: "side",
      },
      {
        id: "problem",
        title: t("column.problem"),
        readValue: ({ disabled_reason: reason, waiting }) =>
          reason === null ? writeWaiting(waiting) : describeReason(reason),
        cell: ({ disabled_reason: reason, waiting }) => {
          const text = reason === null ? writeWaiting(waiting) : describeReason(reason);
          return text === undefined ? undefined : <span className="cut-text untrusted">{text}</span>;
        },
        phone: "tap",
      },
      {
        id: "server",
        title: t("server"),
        readValue: ({ server_id: id }) => serverOf(id) ?? id,
        cell: ({ server_id: id }) => <NameText text={serverOf(id) ?? id} />,
        width: "12%",
        phone: "line",
      },
      {
        id: "format",
        title: t("column.format"),
        readValue: ({ format: name }) => t(`format.${name}`),
        cell: ({ format: name }) => t(`format.${name}`),
        width: "10rem",
        phone: "tap",
      },
      {
        id: "address",
        title: t("column.address"),
        readValue: ({ url }) => url,
        cell: ({ url }) => <span className="cut-text untrusted">{url.replace("https://", "")}</span>,
        width: "13%",
        phone: "tap",
        // It is the same for every channel of Discord.
        isHiddenAtFirst: true,
      },
      {
        id: "success",
        title: t("column.success"),
        readValue: ({ last_success_at: at }) => at ?? undefined,
        cell: ({ last_success_at: at }) =>
          at === null ? <span className="no-value">{t("never")}</span> : <Ago at={at} />,
        width: "11.5rem",
        phone: "tap",
      },
      {
        id: "created",
        title: t("column.created"),
        readValue: ({ created_at: at }) => at,
        cell: ({ created_at: at }) => <span className="numbers">{format.dateTime(at)}</span>,
        width: "12rem",
        phone: "tap",
        isHiddenAtFirst: true,
      },
    ],
    [t, format, serverOf, describeReason, writeWaiting],
  );
}

export function keyOfWebhook({ webhook_id: id }: WebhookResource): string {
  return id;
}

export function attributesOfWebhook(webhook: WebhookResource) {
  return { "data-state": judgeWebhook(webhook) };
}
