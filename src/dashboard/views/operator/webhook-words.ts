// Names of events, groups, reasons and errors of webhooks, in the user's language.
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { EventType } from "../../../core/events/event-types.ts";
import type { activity as texts } from "../../locales/en/activity.ts";
import { findDisabledReason, findErrorName } from "./webhook-state.ts";
import { judgeGroup, readTypes, TYPE_GROUPS, type TypeGroup } from "./webhook-types.ts";

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

/** Why a webhook was disabled, and what went wrong with an attempt. What is not known is shown as it came. */
export function useProblemWords() {
  const { t } = useTranslation("operatorWebhooks");
  return useMemo(
    () => ({
      describeReason(reason: string): string {
        const name = findDisabledReason(reason);
        return name === undefined ? reason : t(`reason.${name}`);
      },
      describeError(error: string): string {
        const name = findErrorName(error);
        return name === undefined ? error : t(`error.${name}`);
      },
    }),
    [t],
  );
}
