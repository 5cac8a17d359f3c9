// The view "players": everybody on the server, and who played most in a period.
import { useTranslation } from "react-i18next";
import { Notice } from "../parts/states.tsx";
import { ViewPage } from "../parts/view-page.tsx";
import { useRouteId } from "../state/route.ts";
import "./history/texts.ts";
import { ViewParts } from "./history/view-parts.tsx";
import { PlayersNow } from "./players/players-now.tsx";
import { Playtime } from "./players/playtime.tsx";

const PLAYTIME = "playtime";

export function PlayersView() {
  const { t } = useTranslation(["history", "players", "shell"]);
  const part = useRouteId("players") ?? "";
  if (part !== "" && part !== PLAYTIME) return <Notice icon="search" title={t("shell:notFound")} />;
  const isNow = part === "";
  return (
    <ViewPage title={t("players:title")} summary={t(isNow ? "players:summary" : "playtime.summary")}>
      <ViewParts
        label={t("playtime.parts")}
        parts={[
          { route: "players", title: t("playtime.now"), isCurrent: isNow },
          { route: `players/${PLAYTIME}`, title: t("playtime.list"), isCurrent: !isNow },
        ]}
      />
      {isNow ? <PlayersNow /> : <Playtime />}
    </ViewPage>
  );
}
