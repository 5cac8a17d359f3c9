// The state of a webhook as a badge, and what it waits for in words.
import { Badge } from "@mantine/core";
import { useCallback } from "react";
import { useTranslation } from "react-i18next";
import { WAITING_MAX } from "../../../core/webhooks/webhook.ts";
import type { WebhookResource } from "../../../core/wire/webhook.ts";
import { useFormat } from "../../state/use-format.ts";
import { judgeWebhook, STATE_COLOURS } from "./webhook-state.ts";

export function WebhookBadge({ webhook }: { readonly webhook: WebhookResource }) {
  const { t } = useTranslation("operatorWebhooks");
  const state = judgeWebhook(webhook);
  return (
    <Badge color={STATE_COLOURS[state]} variant="light" tt="none">
      {t(`state.${state}`)}
    </Badge>
  );
}

/** "3 events wait"; undefined when none waits. */
export function useWaitingText(): (waiting: number) => string | undefined {
  const { t } = useTranslation("operatorWebhooks");
  const format = useFormat();
  return useCallback(
    (waiting) => {
      if (waiting === 0) return undefined;
      if (waiting >= WAITING_MAX) return t("waitingMany", { n: format.number(waiting) });
      return t("waiting", { count: waiting });
    },
    [t, format],
  );
}
