// The choice of what rings.
import { Alert, Checkbox, Stack, Switch, Table, Text } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { Section } from "../../../core/sections.ts";
import { Icon } from "../../parts/icon.tsx";
import { Note } from "../../parts/text/plain-text.tsx";
import {
  chooseRing,
  RING_KINDS,
  RING_WAYS,
  type RingKind,
  switchRings,
  useRingSettings,
} from "../../state/calls/rings.ts";
import { playSound, requestNotifications, showNotification } from "../../state/calls/sound.ts";
import { useStreamStatus } from "../../state/ledger/use-live-stream.tsx";

/** What the key must be able to read, so that it can ring. */
const SECTION_OF_KIND: Readonly<Partial<Record<RingKind, Section>>> = {
  modcall: "ModCalls",
  call: "EmergencyCalls",
  kills: "KillLogs",
  mass_command: "CommandLogs",
};

export function RingChoices({ sections }: { readonly sections: readonly Section[] }) {
  const { t } = useTranslation(["alertEvents", "alerts"]);
  const settings = useRingSettings();
  const [problem, setProblem] = useState<"denied" | "unsupported">();
  const isLive = useStreamStatus() !== "off";
  const kinds = RING_KINDS.filter((kind) => {
    const section = SECTION_OF_KIND[kind];
    return section === undefined || sections.includes(section);
  });
  const names = { sound: t("rings.bySound"), notification: t("rings.byNotification") };

  const switchSound = (isOn: boolean) => {
    switchRings("sound", isOn);
    if (isOn) playSound();
  };
  const switchNotification = async (isOn: boolean) => {
    setProblem(undefined);
    if (!isOn) return switchRings("notification", false);
    const answer = await requestNotifications();
    // The first notification says that they are on, and shows whether the browser can do it.
    const isShown = answer === "granted" && showNotification({ title: t("alerts:title"), body: "", tag: "gatehouse" });
    switchRings("notification", isShown);
    if (!isShown) setProblem(answer === "denied" ? "denied" : "unsupported");
  };

  return (
    <Stack gap="md">
      <Switch
        label={t("rings.sound")}
        description={t("rings.soundHint")}
        checked={settings.sound.isOn}
        onChange={(event) => switchSound(event.currentTarget.checked)}
      />
      <Switch
        label={t("rings.notification")}
        description={t("rings.notificationHint")}
        checked={settings.notification.isOn}
        onChange={(event) => void switchNotification(event.currentTarget.checked)}
      />
      {problem && (
        <Alert color="orange" role="alert" icon={<Icon name="warning" />}>
          {t(`rings.${problem}`)}
        </Alert>
      )}
      <Table className="ring-kinds" verticalSpacing={4}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t("rings.kind")}</Table.Th>
            {RING_WAYS.map((way) => (
              <Table.Th key={way} ta="center">
                {names[way]}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {kinds.map((kind) => (
            <Table.Tr key={kind}>
              <Table.Td>{t(`alerts:kind.${kind}`)}</Table.Td>
              {RING_WAYS.map((way) => (
                <Table.Td key={way} align="center">
                  <Checkbox
                    display="inline-block"
                    aria-label={t("rings.choice", { way: names[way], kind: t(`alerts:kind.${kind}`) })}
                    checked={!settings[way].not.includes(kind)}
                    disabled={!settings[way].isOn}
                    onChange={(event) => chooseRing(way, kind, event.currentTarget.checked)}
                  />
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {!isLive && <Text size="sm">{t("rings.notLive")}</Text>}
      <Note>{t("rings.kept")}</Note>
    </Stack>
  );
}
