// Who is on the server, for commands: how a line is judged by it, and how old it is.
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { parsePlayerRef } from "../../player-ref.ts";
import type { ServerView } from "../../state/server/use-server-state.tsx";
import { useFormat } from "../../state/time/use-format.ts";
import type { Candidate } from "./targets.ts";

/** The players on the server; undefined when they cannot be read. */
export function usePlayers({ state }: ServerView): readonly Candidate[] | undefined {
  const entries = state?.Players;
  return useMemo(
    () => entries?.map(({ Player, Team }) => ({ ...parsePlayerRef(Player), team: Team ?? undefined })),
    [entries],
  );
}

/** Whether players may have joined or left since the last reading. */
export function isStale({ condition, dataAt, staleAfterMs }: ServerView, now: number): boolean {
  return condition !== "ok" || dataAt === undefined || now - dataAt > staleAfterMs;
}

/** Says why the players cannot be checked, or how old they are. */
export function useRosterNote(view: ServerView): (now: number) => string | undefined {
  const { t } = useTranslation("commands");
  const format = useFormat();
  return (now) => {
    if (view.missing.length > 0) return t("confirm.playersForbidden");
    if (!view.state?.Players || view.dataAt === undefined) return t("confirm.playersUnknown");
    return t("confirm.playersStale", { age: format.duration(now - view.dataAt) });
  };
}
