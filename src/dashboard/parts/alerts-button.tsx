// The button in the header that opens the settings of the alerts for new calls.
import { ActionIcon, Alert, Stack, Switch, Text, Tooltip } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { Section } from "../../core/sections.ts";
import { changeAlertSettings, useAlertSettings } from "../state/alert-settings.ts";
import { useStreamStatus } from "../state/use-live-stream.tsx";
import { playAlertSound } from "./alert-sound.ts";
import { requestNotifications, showNotification } from "./browser-notification.ts";
import { Dialog, useDialog } from "./dialog.tsx";
import { Icon } from "./icon.tsx";

const CALL_SECTIONS: readonly Section[] = ["ModCalls", "EmergencyCalls"];

/** Nothing for a key that may read no calls. */
export function AlertsButton({ sections }: { readonly sections: readonly Section[] }) {
  const { t } = useTranslation("alerts");
  const dialog = useDialog<true>();
  const { sound, notification } = useAlertSettings();
  const readable = CALL_SECTIONS.filter((name) => sections.includes(name));
  if (readable.length === 0) return null;
  const isOn = sound || notification;
  return (
    <>
      <Tooltip label={t(isOn ? "on" : "open")}>
        <ActionIcon
          aria-label={t("open")}
          data-on={isOn}
          {...(isOn && { color: "teal" })}
          onClick={() => dialog.open(true)}
        >
          <Icon name={isOn ? "bell" : "bellOff"} />
        </ActionIcon>
      </Tooltip>
      <Dialog state={dialog} title={t("open")}>
        {() => <AlertSwitches readable={readable} />}
      </Dialog>
    </>
  );
}

function AlertSwitches({ readable }: { readonly readable: readonly Section[] }) {
  const { t } = useTranslation(["alerts", "status"]);
  const { sound, notification } = useAlertSettings();
  const [problem, setProblem] = useState<"denied" | "unsupported">();
  const isLive = useStreamStatus() !== "off";

  const switchSound = (isOn: boolean) => {
    changeAlertSettings({ sound: isOn });
    if (isOn) playAlertSound();
  };
  const switchNotification = async (isOn: boolean) => {
    setProblem(undefined);
    if (!isOn) return changeAlertSettings({ notification: false });
    const answer = await requestNotifications();
    // The first notification says that they are on, and shows whether the browser can do it.
    const isShown = answer === "granted" && showNotification({ title: t("on"), body: "", tag: "gatehouse" });
    changeAlertSettings({ notification: isShown });
    if (!isShown) setProblem(answer === "denied" ? "denied" : "unsupported");
  };

  return (
    <Stack gap="md">
      <Text size="sm">{t("summary")}</Text>
      {readable.length < CALL_SECTIONS.length && (
        <Text size="sm">
          {t("partly", { sections: readable.map((name) => t(`status:sections.${name}`)).join(", ") })}
        </Text>
      )}
      <Switch
        label={t("sound")}
        description={t("soundHint")}
        checked={sound}
        onChange={(event) => switchSound(event.currentTarget.checked)}
      />
      <Switch
        label={t("notification")}
        description={t("notificationHint")}
        checked={notification}
        onChange={(event) => void switchNotification(event.currentTarget.checked)}
      />
      {problem && (
        <Alert color="orange" role="alert" icon={<Icon name="warning" />}>
          {t(problem)}
        </Alert>
      )}
      {!isLive && <Text size="sm">{t("notLive")}</Text>}
      <Text size="sm" c="dimmed">
        {t("kept")}
      </Text>
    </Stack>
  );
}
