// The switches for the language and for light or dark colours.
import { ActionIcon, Group, NativeSelect, Tooltip, useComputedColorScheme, useMantineColorScheme } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { changeLanguage, LANGUAGES, toLanguage } from "../i18n.ts";
import { Icon } from "./icon.tsx";

export const LANGUAGE_NAMES = { en: "english", ru: "russian" } as const;

export function PageSwitches() {
  const { t, i18n } = useTranslation("shell");
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme("light");
  const label = t(scheme === "light" ? "toDark" : "toLight");
  return (
    <Group gap="xs" wrap="nowrap">
      <NativeSelect
        size="sm"
        aria-label={t("language")}
        value={toLanguage(i18n.language) ?? "en"}
        onChange={(event) => void changeLanguage(toLanguage(event.currentTarget.value) ?? "en")}
        data={LANGUAGES.map((language) => ({ value: language, label: t(LANGUAGE_NAMES[language]) }))}
      />
      <Tooltip label={label}>
        <ActionIcon aria-label={label} onClick={() => setColorScheme(scheme === "light" ? "dark" : "light")}>
          <Icon name={scheme === "light" ? "moon" : "sun"} />
        </ActionIcon>
      </Tooltip>
    </Group>
  );
}
