// The dialog that `?` opens: the list of keys, and the switch that turns them off.
import { Kbd, Stack, Switch, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { View } from "../view-list.ts";
import { switchKeys, useKeysOn } from "./key-switch.ts";
import { GO_KEY, HELP_KEY, SEARCH_KEY, VIEW_LETTERS } from "./key-table.ts";

export function KeyList({ views }: { readonly views: readonly View[] }) {
  const { t } = useTranslation("keyboard");
  const isOn = useKeysOn();
  return (
    <Stack gap="md">
      <Switch
        label={t("on")}
        description={t("onHint")}
        checked={isOn}
        onChange={(event) => switchKeys(event.currentTarget.checked)}
      />
      <dl className="key-list">
        <KeyFact keys={[SEARCH_KEY]}>{t("search")}</KeyFact>
        <KeyFact keys={[HELP_KEY]}>{t("help")}</KeyFact>
        <KeyFact keys={["Esc"]}>{t("close")}</KeyFact>
      </dl>
      <Title order={3} size="h5">
        {t("views")}
      </Title>
      <dl className="key-list">
        {views.map(({ name, texts }) => {
          const letter = VIEW_LETTERS[name];
          if (letter === undefined) return null;
          return (
            <KeyFact key={name} keys={[GO_KEY, letter]}>
              {t("title", { ns: texts })}
            </KeyFact>
          );
        })}
      </dl>
      <Text size="sm" c="dimmed">
        {t("hint")}
      </Text>
    </Stack>
  );
}

function KeyFact({ keys, children }: { readonly keys: readonly string[]; readonly children: ReactNode }) {
  return (
    <>
      <dt>
        {keys.map((key, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a sequence may have a key twice
          <Kbd key={index}>{key}</Kbd>
        ))}
      </dt>
      <dd>{children}</dd>
    </>
  );
}
