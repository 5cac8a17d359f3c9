// The view "staff": who they are and which of them are on the server, and what they did in a period.
import { useTranslation } from "react-i18next";
import { LazyView } from "../parts/lazy-view.tsx";
import { Notice } from "../parts/states.tsx";
import { ViewPage } from "../parts/view-page.tsx";
import { ViewParts } from "../parts/view-parts.tsx";
import { useRouteId } from "../state/route.ts";
import { StaffNow } from "./staff/staff-now.tsx";

const ACTIVITY = "activity";
const loadActivity = async () => (await import("./plots.ts")).StaffActivity;

export function StaffView() {
  const { t } = useTranslation(["staff", "shell"]);
  const part = useRouteId("staff") ?? "";
  if (part !== "" && part !== ACTIVITY) return <Notice icon="search" title={t("shell:notFound")} />;
  const isNow = part === "";
  return (
    <ViewPage title={t("title")} summary={t(isNow ? "summary" : "activitySummary")}>
      <ViewParts
        label={t("shell:parts")}
        parts={[
          { route: "staff", title: t("shell:now"), isCurrent: isNow },
          { route: `staff/${ACTIVITY}`, title: t("activity"), isCurrent: !isNow },
        ]}
      />
      {isNow ? <StaffNow /> : <LazyView load={loadActivity} />}
    </ViewPage>
  );
}
