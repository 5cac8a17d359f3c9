// The operator's view "health".
import { Text } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { parseMetrics } from "../../api/metrics-text.ts";
import { FailedState, LoadingState } from "../../parts/states.tsx";
import { ViewPage } from "../../parts/view-page.tsx";
import { useAdmin, useAdminQuery } from "../../state/use-admin.ts";

const INTERVAL_MS = 5_000;

export function HealthView() {
  const { t } = useTranslation("operatorHealth");
  const admin = useAdmin();
  const readiness = useAdminQuery(["readiness"], admin.readReadiness, INTERVAL_MS);
  const metrics = useAdminQuery(["metrics"], admin.readMetrics, INTERVAL_MS);
  const samples = metrics.value === undefined ? [] : parseMetrics(metrics.value);
  return (
    <ViewPage title={t("title")} summary={t("summary")}>
      {readiness.isLoading && <LoadingState />}
      {readiness.error && <FailedState error={readiness.error} onRetry={readiness.refresh} />}
      {readiness.value && <Text>{readiness.value.status}</Text>}
      <Text className="numbers">{samples.length}</Text>
    </ViewPage>
  );
}
