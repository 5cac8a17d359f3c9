// The view "staff": who they are and which of them are on the server, and what they did in a period.
import { useTranslation } from "react-i18next";
import { Notice } from "../parts/states.tsx";
import { ViewPage } from "../parts/view-page.tsx";
import { useRouteId } from "../state/route.ts";
import "./history/texts.ts";
import { ViewParts } from "./history/view-parts.tsx";
import { StaffActivity } from "./staff/staff-activity.tsx";
import { StaffNow } from "./staff/staff-now.tsx";

const ACTIVITY = "activity";

export function StaffView() {
  const { t } = useTranslation(["history", "staff", "shell"]);
  const part = useRouteId("staff") ?? "";
  if (part !== "" && part !== ACTIVITY) return <Notice icon="search" title={t("shell:notFound")} />;
  const isNow = part === "";
  return (
    <ViewPage title={t("staff:title")} summary={t(isNow ? "staff:summary" : "staff.summary")}>
      <ViewParts
        label={t("staff.parts")}
        parts={[
          { route: "staff", title: t("staff.now"), isCurrent: isNow },
          { route: `staff/${ACTIVITY}`, title: t("staff.period"), isCurrent: !isNow },
        ]}
      />
      {isNow ? <StaffNow /> : <StaffActivity />}
    </ViewPage>
  );
}
