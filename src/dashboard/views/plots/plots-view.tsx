// The view "plots": how full the server was in a period, from what Gatehouse remembers, and the last hour as this page has seen
// it.
import { Alert } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Icon } from "../../parts/icon.tsx";
import { ViewPage } from "../../parts/view-page.tsx";
import { useMayAsk } from "../../state/use-history.ts";
import { type Choice, PeriodField } from "../history/period-field.tsx";
import "../history/texts.ts";
import { HistoryPlots } from "./history-plots.tsx";
import { LivePlots } from "./live-plots.tsx";

const OFFERED = ["hour", "day", "week", "month", "year"] as const;

export function PlotsView() {
  const { t } = useTranslation(["history", "plots"]);
  const [choice, setChoice] = useState<Choice>({ name: "day" });
  const isRecorded = useMayAsk("players");
  if (!isRecorded) {
    return (
      <ViewPage title={t("plots:title")} summary={t("live.summary")}>
        <Alert color="gray" title={t("problem.off")} icon={<Icon name="empty" />}>
          {t("problem.offText")}
        </Alert>
        <LivePlots isRecorded={false} />
      </ViewPage>
    );
  }
  return (
    <ViewPage
      title={t("plots:title")}
      summary={t(choice.name === "hour" ? "plots.hourSummary" : "plots.summary")}
    >
      <PeriodField offered={OFFERED} choice={choice} onChange={setChoice} />
      {choice.name === "hour" ? <LivePlots isRecorded /> : <HistoryPlots choice={choice} />}
    </ViewPage>
  );
}
