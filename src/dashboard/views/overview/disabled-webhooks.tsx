// Above the servers of an operator: how many webhooks were disabled because of their receivers, with a link to them.
import { Alert, Anchor } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { Icon } from "../../parts/icon.tsx";
import { hrefOf } from "../../state/route.ts";
import { useAdmin, useAdminQuery } from "../../state/use-admin.ts";
import { countDisabled } from "./count-disabled.ts";

const POLL_INTERVAL_MS = 30_000;

export function DisabledWebhooks() {
  const { t } = useTranslation("operatorWebhooks");
  const admin = useAdmin();
  const { value } = useAdminQuery(["readiness"], admin.readReadiness, POLL_INTERVAL_MS);
  const count = countDisabled(value?.notices ?? []);
  if (count === 0) return null;
  return (
    <Alert color="orange" icon={<Icon name="warning" />} title={t("disabledCount", { count })}>
      {t("disabledText")}{" "}
      <Anchor href={hrefOf("webhooks")} size="sm" underline="always">
        {t("look")}
      </Anchor>
    </Alert>
  );
}
