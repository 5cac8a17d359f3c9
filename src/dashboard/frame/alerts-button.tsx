// The button in the header that shows the alerts, and what rings. Its number is seen in every view.
import { ActionIcon, Tooltip } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { Section } from "../../core/sections.ts";
import { Dialog, useDialog } from "../parts/dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { LazyView } from "../parts/lazy-view.tsx";
import { RING_WAYS, useRingSettings } from "../state/calls/rings.ts";
import { useAlerts } from "../views/alerts/use-alerts.tsx";
import "./alerts-button.css";

const COUNT_SHOWN_MAX = 99;
const loadPanel = async () => (await import("../views/alerts/raised-alerts.tsx")).AlertsPanel;

export function AlertsButton({ sections }: { readonly sections: readonly Section[] }) {
  const { t } = useTranslation("alerts");
  const dialog = useDialog<true>();
  const settings = useRingSettings();
  const { shown } = useAlerts();
  const count = shown.length;
  const isRinging = RING_WAYS.some((way) => settings[way].isOn);
  const label = count > 0 ? t("shown", { count }) : t("title");
  return (
    <>
      <Tooltip label={label}>
        <ActionIcon className="alerts-button" aria-label={label} data-on={isRinging} onClick={() => dialog.open(true)}>
          <Icon name={isRinging ? "bell" : "bellOff"} />
          {count > 0 && (
            <span
              className="waiting-badge alert-count numbers"
              data-over={shown.every(({ endedAt }) => endedAt !== undefined) || undefined}
              aria-hidden
            >
              {count > COUNT_SHOWN_MAX ? `${COUNT_SHOWN_MAX}+` : count}
            </span>
          )}
        </ActionIcon>
      </Tooltip>
      <Dialog state={dialog} title={t("title")} isLarge>
        {() => <LazyView load={loadPanel} given={{ sections, onLeave: dialog.close }} />}
      </Dialog>
    </>
  );
}
