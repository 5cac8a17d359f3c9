// The view "players": everybody on the server, and who played most in a period.
import { useTranslation } from "react-i18next";
import { LazyView } from "../parts/lazy-view.tsx";
import { Notice } from "../parts/states.tsx";
import { ViewPage } from "../parts/view-page.tsx";
import { ViewParts } from "../parts/view-parts.tsx";
import { useRouteId } from "../state/route.ts";
import { PlayersNow } from "./players/players-now.tsx";

const PLAYTIME = "playtime";
const loadPlaytime = async () => (await import("./plots.ts")).Playtime;

export function PlayersView() {
  const { t } = useTranslation(["players", "shell"]);
  const part = useRouteId("players") ?? "";
  if (part !== "" && part !== PLAYTIME) return <Notice icon="search" title={t("shell:notFound")} />;
  const isNow = part === "";
  return (
    <ViewPage title={t("title")} summary={t(isNow ? "summary" : "playtimeSummary")}>
      <ViewParts
        label={t("shell:parts")}
        parts={[
          { route: "players", title: t("shell:now"), isCurrent: isNow },
          { route: `players/${PLAYTIME}`, title: t("playtime"), isCurrent: !isNow },
        ]}
      />
      {isNow ? <PlayersNow /> : <LazyView load={loadPlaytime} />}
    </ViewPage>
  );
}
