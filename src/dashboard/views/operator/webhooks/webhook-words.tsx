// What the page says about webhooks, in the user's language: events, groups, reasons, errors and states.
import { Badge } from "@mantine/core";
import { useCallback, useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { EventType } from "../../../../core/events/event-types.ts";
import { WAITING_MAX } from "../../../../core/webhooks/webhook.ts";
import type { DeliveryResource, WebhookResource } from "../../../../core/wire/webhook.ts";
import type { activity as texts } from "../../../locales/en/events.ts";
import { useFormat } from "../../../state/time/use-format.ts";
import { judgeGroup, judgeWebhook, readTypes, STATE_COLOURS, TYPE_GROUPS, type TypeGroup } from "./webhook-types.ts";

type TypeName = keyof typeof texts.type;

export function useTypeNames() {
  const { t } = useTranslation(["operatorWebhooks", "activity"]);
  return useMemo(() => {
    const nameGroup = (group: TypeGroup) =>
      group === "server" || group === "alerts" ? t(`group.${group}`) : t(`activity:group.${group}`);
    const nameType = (type: EventType) => t(`activity:type.${type.replace(".", "_") as TypeName}`);
    /** "Kills, Emergency calls": whole groups by their name, parts of a group by type. */
    const nameTypes = (types: readonly string[] | null) => {
      if (types === null) return t("allEvents");
      const chosen = readTypes(types);
      return TYPE_GROUPS.flatMap(([group, own]) => {
        const state = judgeGroup(own, chosen);
        if (state === "all") return [nameGroup(group)];
        return own.filter((type) => chosen.includes(type)).map(nameType);
      }).join(", ");
    };
    return { nameGroup, nameType, nameTypes };
  }, [t]);
}

export type DisabledFields = Pick<WebhookResource, "disabled_code" | "disabled_reason">;

/** Why a webhook was disabled, and what went wrong with an attempt. What is not known is shown as it came. */
export function useProblemWords() {
  const { t, i18n } = useTranslation("operatorWebhooks");
  return useMemo(() => {
    const translate = (key: string, isCoded: boolean, text: string | null) =>
      isCoded && i18n.exists(key, { ns: "operatorWebhooks" }) ? t(key as "reason.gone") : (text ?? undefined);
    return {
      describeReason: ({ disabled_code: code, disabled_reason: text }: DisabledFields) =>
        translate(`reason.${code}`, code !== null, text),
      describeError: ({ error_code: code, error: text }: Pick<DeliveryResource, "error" | "error_code">) =>
        translate(`error.${code}`, code !== null, text),
    };
  }, [t, i18n]);
}

export function WebhookBadge({ webhook }: { readonly webhook: WebhookResource }) {
  const { t } = useTranslation("operatorWebhooks");
  const state = judgeWebhook(webhook);
  return <Badge color={STATE_COLOURS[state]}>{t(`state.${state}`)}</Badge>;
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
