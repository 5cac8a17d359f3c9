// The view "plots": how full the server was in a period, from what Gatehouse remembers, and the last hour as this page has seen
// it.
import { Alert, Button, Group, Text } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useEscape } from "../../parts/dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Note } from "../../parts/text/plain-text.tsx";
import { ViewPage } from "../../parts/view-page.tsx";
import { type Period, toPart } from "../../state/history/period.ts";
import { useMayAsk } from "../../state/history/use-history.ts";
import { getFormats } from "../../state/time/use-format.ts";
import { MomentField } from "../history/moment-field.tsx";
import { type Choice, PeriodField } from "../history/period-field.tsx";
import { HistoryPlots } from "./history-plots.tsx";
import type { PlotUse } from "./line-plot.tsx";
import { LivePlots } from "./live-plots.tsx";
import { WhoWasThere } from "./who-was-there.tsx";

const OFFERED = ["hour", "day", "week", "month", "year"] as const;

export function PlotsView() {
  const { t } = useTranslation(["history", "plots"]);
  const [choice, setChoice] = useState<Choice>({ name: "day" });
  /** The parts that were dragged, each in the one before. */
  const [parts, setParts] = useState<readonly Period[]>([]);
  const [moment, setMoment] = useState<number>();
  const isRecorded = useMayAsk("players");
  const mayPick = useMayAsk("present");
  const part = parts.at(-1);
  const back = () => setParts((all) => all.slice(0, -1));
  useEscape(moment !== undefined || part !== undefined, () => (moment === undefined ? back() : setMoment(undefined)));
  if (!isRecorded) {
    return (
      <ViewPage title={t("plots:title")}>
        <Alert color="gray" title={t("problem.off")} icon={<Icon name="empty" />}>
          {t("problem.offText")}
        </Alert>
        <LivePlots isRecorded={false} />
      </ViewPage>
    );
  }
  const use: PlotUse = {
    pick: (at) => mayPick && setMoment(Math.min(Math.floor(at), Date.now())),
    zoom(from, to) {
      const dragged = toPart(from, to, Date.now());
      if (dragged) setParts([...parts, dragged]);
    },
    back,
  };
  const below = moment !== undefined && <WhoWasThere at={moment} onClose={() => setMoment(undefined)} />;
  return (
    <ViewPage title={t("plots:title")}>
      <Group justify="space-between" gap="xs">
        <PeriodField
          offered={OFFERED}
          choice={choice}
          onChange={(chosen) => {
            setChoice(chosen);
            setParts([]);
          }}
        />
        {mayPick && (
          <MomentField label={t("present.field")} button={t("present.show")} at={undefined} onGo={setMoment} />
        )}
      </Group>
      {part && <PartLine part={part} onBack={back} />}
      {part ? (
        <HistoryPlots choice={{ name: "part", ...part }} use={use} below={below} />
      ) : choice.name === "hour" ? (
        <LivePlots isRecorded use={use} below={below} />
      ) : (
        <HistoryPlots choice={choice} use={use} below={below} />
      )}
    </ViewPage>
  );
}

/** Which part of the period is shown, and the way back. */
function PartLine({ part, onBack }: { readonly part: Period; readonly onBack: () => void }) {
  const { t, i18n } = useTranslation("history");
  return (
    <Group gap="sm" role="status">
      <Button size="xs" variant="default" leftSection={<Icon name="back" size={16} />} onClick={onBack}>
        {t("plots.zoomOut")}
      </Button>
      <Text size="sm" fw={600} className="numbers">
        {getFormats(i18n.language).shortDateTime.formatRange(part.from, part.to)}
      </Text>
      <Note span>{t("plots.zoomHint")}</Note>
    </Group>
  );
}
