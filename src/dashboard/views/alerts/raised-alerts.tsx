// The alerts that are raised and not cleared, as a notice above a view.
import { Alert, Anchor, Group, Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { Icon } from "../../parts/icon.tsx";
import { Moment, NowProvider } from "../../parts/moment.tsx";
import { useViewHref } from "../../state/route.ts";
import { AlertText } from "./alert-text.tsx";
import type { OpenAlert } from "./open-alerts.ts";
import "./texts.ts";

const SHOWN_MAX = 5;

export function RaisedAlerts({ open }: { readonly open: readonly OpenAlert[] }) {
  const { t } = useTranslation("alertEvents");
  const hrefOf = useViewHref();
  return (
    <Alert color="red" title={t("raised", { count: open.length })} icon={<Icon name="bell" />}>
      <NowProvider>
        <ul className="live-list">
          {open.slice(0, SHOWN_MAX).map(({ id, at, ...facts }) => (
            <li key={id} data-rule={facts.rule}>
              <Group style={{ gap: "0 0.6rem" }} miw={0}>
                <AlertText {...facts} />
                <Moment seconds={at / 1000} />
              </Group>
            </li>
          ))}
        </ul>
      </NowProvider>
      {open.length > SHOWN_MAX && <Text size="sm">{t("more", { n: open.length - SHOWN_MAX })}</Text>}
      <Anchor href={hrefOf("activity")} size="sm">
        {t("all")}
      </Anchor>
    </Alert>
  );
}
